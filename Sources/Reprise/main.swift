import Media
print("not built yet")
