#include "ctoml.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct value {
    std::string path;
    int32_t depth;
    int32_t kind;
    std::string text;
    uint32_t line;
};

void collect(const toml::node &node, const std::string &path, int32_t depth, std::vector<value> &values);

void add(const toml::node &node, const std::string &path, int32_t depth, int32_t kind, std::string text,
         std::vector<value> &values) {
    values.push_back({path, depth, kind, std::move(text), node.source().begin.line});
}

std::string extended(const std::string &path, std::string_view name) {
    std::string longer = path;
    longer.append(name);
    longer.push_back('\0');
    return longer;
}

template <typename Number> std::string written(Number number) {
    std::ostringstream stream;
    stream << toml::value<Number>{number};
    return stream.str();
}

void collect(const toml::node &node, const std::string &path, int32_t depth, std::vector<value> &values) {
    if (auto table = node.as_table()) {
        if (table->empty() && depth > 0) add(node, path, depth, ctoml_empty, "", values);
        for (auto &&[key, child] : *table) collect(child, extended(path, key.str()), depth + 1, values);
    } else if (auto array = node.as_array()) {
        if (array->empty()) add(node, path, depth, ctoml_empty, "", values);
        size_t place = 0;
        for (auto &&child : *array) collect(child, extended(path, std::to_string(place++)), depth + 1, values);
    } else if (auto text = node.as_string()) {
        add(node, path, depth, ctoml_string, text->get(), values);
    } else if (auto number = node.as_integer()) {
        add(node, path, depth, ctoml_integer, std::to_string(number->get()), values);
    } else if (auto real = node.as_floating_point()) {
        add(node, path, depth, ctoml_float, written(real->get()), values);
    } else if (auto truth = node.as_boolean()) {
        add(node, path, depth, ctoml_boolean, truth->get() ? "true" : "false", values);
    } else {
        add(node, path, depth, ctoml_date, "", values);
    }
}

} // namespace

int32_t ctoml_parse(const char *bytes, size_t length, void *context, ctoml_visit visit, ctoml_refuse refuse) {
    auto result = toml::parse(std::string_view{bytes, length});
    if (!result) {
        auto reason = result.error().description();
        refuse(context, reason.data(), reason.size(), result.error().source().begin.line);
        return 0;
    }
    std::vector<value> values;
    collect(result.table(), "", 0, values);
    // toml++ sorts tables by name, but the first error to report is the topmost in the file.
    std::stable_sort(values.begin(), values.end(),
                     [](const value &left, const value &right) { return left.line < right.line; });
    for (auto &one : values)
        visit(context, one.path.data(), one.path.size(), one.depth, one.kind, one.text.data(), one.text.size(),
              one.line);
    return 1;
}
