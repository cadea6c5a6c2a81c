/** The agents that `npm run agents` runs, with the settings that docs/agents.md recommends. */
import type { Agent } from './agent.ts'

const claude: Agent = {
  name: 'claude',
  package: '@anthropic-ai/claude-code@2.1.332',
  command: 'claude',
  env: ({ url, model }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: 'any',
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  args: (task) => ['-p', task, '--allowedTools', 'Bash', 'Read', 'Write'],
  compactsAfterError: true,
}

const codex: Agent = {
  name: 'codex',
  package: '@openai/codex@0.171.0',
  command: 'codex',
  files: ({ url, model, contextLength }) => ({
    '.codex/config.toml': `model = "${model}"
model_provider = "shoal"
model_context_window = ${contextLength}

[model_providers.shoal]
name = "shoal"
base_url = "${url}/v1"
wire_api = "responses"
`,
  }),
  env: ({ home }) => ({ CODEX_HOME: `${home}/.codex` }),
  args: (task) => ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', task],
  compactsAfterError: false,
}

const opencode: Agent = {
  name: 'opencode',
  package: 'opencode-ai@1.18.33',
  command: 'opencode',
  files: ({ url, model }) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      autoupdate: false,
      provider: {
        shoal: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'any' },
          models: { [model]: {} },
        },
      },
    }),
  }),
  env: () => ({}),
  args: (task, { model }) => ['run', '--model', `shoal/${model}`, task],
  compactsAfterError: true,
  exitCodeAfterError: 1,
}

const copilot: Agent = {
  name: 'copilot',
  package: '@github/copilot@1.0.102',
  command: 'copilot',
  env: ({ url, model, contextLength }) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'any',
    COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(contextLength),
    COPILOT_MODEL: model,
    COPILOT_OFFLINE: 'true',
  }),
  args: (task) => ['-p', task, '--allow-all-tools', '--allow-all-paths'],
  compactsAfterError: false,
}

const qwen: Agent = {
  name: 'qwen',
  package: '@qwen-code/qwen-code@0.24.4',
  command: 'qwen',
  env: ({ url, model }) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'any',
    OPENAI_MODEL: model,
  }),
  args: (task) => ['-p', task, '--yolo', '--auth-type', 'openai'],
  compactsAfterError: true,
  cannot: { cut: 'does not repeat a request whose answer was cut off' },
}

export const allAgents = [claude, codex, opencode, copilot, qwen]
