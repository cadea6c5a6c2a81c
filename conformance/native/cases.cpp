// Prints the output cases of llama.cpp's tests/test-chat.cpp, one JSON object per line. `patched-test-chat.cpp` is a
// copy of that file in which `print_case` is called for each case instead of the test (see build-native.ts).
#include "patched-test-chat.cpp"

static json to_json(const std::vector<common_chat_tool_call> & calls) {
    json list = json::array();
    for (const auto & call : calls) {
        json one = json::object();
        one["name"] = call.name;
        one["arguments"] = call.arguments;
        list.push_back(one);
    }
    return list;
}

static void print_case(const std::string & path, peg_test_case test) {
    if (test.params.messages.empty()) test.params.messages = { message_user };
    const auto & params = test.params;
    json out = json::object();
    out["template"] = path;
    out["messages"] = common_chat_msgs_to_json_oaicompat(params.messages);
    out["tools"] = common_chat_tools_to_json_oaicompat(params.tools);
    out["schema"] = params.json_schema;
    out["isForced"] = params.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    out["isThinking"] = params.enable_thinking;
    out["isReasoningParsed"] = params.reasoning_format != COMMON_REASONING_FORMAT_NONE;
    out["isContinued"] = params.continue_final_message != COMMON_CHAT_CONTINUATION_NONE;
    out["isPartial"] = test.is_partial;
    out["output"] = test.input;
    json expected = json::object();
    expected["content"] = test.expect.content;
    expected["reasoning"] = test.expect.reasoning_content;
    expected["calls"] = to_json(test.expect.tool_calls);
    out["expected"] = expected;
    std::cout << out.dump() << "\n";
}

int main() {
    test_template_output_peg_parsers(false);
}
