// Renders conversations with llama.cpp. Reads one JSON object per line, with `template` (a path), `messages` and
// `tools` (in OpenAI's format), and `isThinking`, without which llama-server's default applies. For each object, prints
// one JSON object with `prompt` or `error`.
#include "chat.h"
#include "json.h"
#include "log.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

// The current time for llama.cpp and its libraries: 2026-01-01T00:00:00Z, as in score-renderings.ts.
static const time_t frozen_time = 1767225600;

extern "C" time_t time(time_t * result) {
    if (result != nullptr) *result = frozen_time;
    return frozen_time;
}

extern "C" int clock_gettime(clockid_t, timespec * result) {
    *result = { frozen_time, 0 };
    return 0;
}

static std::string render(const common_json & input) {
    std::ifstream file(input.at("template").get<std::string>());
    std::stringstream source;
    source << file.rdbuf();
    auto templates = common_chat_templates_init(nullptr, source.str());
    common_chat_templates_inputs inputs;
    inputs.messages = common_chat_msgs_parse_oaicompat(input.at("messages"));
    inputs.tools = common_chat_tools_parse_oaicompat(input.at("tools"));
    inputs.enable_thinking = input.contains("isThinking")
        ? input.at("isThinking").get<bool>()
        : common_chat_templates_support_enable_thinking(templates.get());
    inputs.parallel_tool_calls = true;
    inputs.now = std::chrono::system_clock::from_time_t(frozen_time);
    return common_chat_templates_apply(templates.get(), inputs).prompt;
}

int main() {
    common_log_set_verbosity_thold(-1);
    for (std::string line; std::getline(std::cin, line);) {
        common_json output = common_json::object();
        try {
            output["prompt"] = render(common_json::parse(line));
        } catch (const std::exception & error) {
            output["error"] = std::string(error.what());
        }
        std::cout << output.dump() << std::endl;
    }
}
