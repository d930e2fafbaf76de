import RepriseOrigin
print("origin")
