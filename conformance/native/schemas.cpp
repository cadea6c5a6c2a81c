// Prints the cases of llama.cpp's tests/test-json-schema-to-grammar.cpp, one JSON object per line.
// `patched-test-json-schema-to-grammar.cpp` is a copy of that file in which `print_case` is called for each case instead
// of the test (see build-native.ts).
#include "patched-test-json-schema-to-grammar.cpp"

#include <iostream>

static void print_case(const TestCase & test) {
    common_json out = common_json::object();
    out["name"] = test.name;
    out["schema"] = test.schema;
    out["isValid"] = test.expected_status == SUCCESS;
    std::cout << out.dump() << std::endl;
}
