/** How a model writes calls after their opening markers. `call-grammar.ts` converts this syntax to a grammar. */
export type CallSyntax = JsonSyntax | NamedSyntax | TagSyntax | LiteralSyntax | MessageSyntax

/** `{"name": "add", "arguments": {"a": 1}}` */
export type JsonSyntax = {
  kind: 'json'
  /** Whether the calls are in a list. */
  isList: boolean
  /** The names of the members before the name, such as an ID. */
  before: string[]
  /** The member that contains the name; undefined if the name itself is the key of the arguments. */
  nameKey: string | undefined
  argumentsKey: string
  /** The names of the members that may follow the arguments. */
  after: string[]
}

/** A name and a JSON object: `add[ARGS]{"a": 1}` */
export type NamedSyntax = { kind: 'named'; before: TextPart[]; between: TextPart[] }

/** A tag for each parameter: `add><parameter=a>1</parameter></function>` */
export type TagSyntax = {
  kind: 'tags'
  afterName: TextPart[]
  keyOpen: string
  /** The text between the name of a parameter and its value. */
  afterKey: TextPart[]
  /** What follows a value. `KEY` represents the parameter's name. */
  valueEnd: string
  /** Whether `valueEnd` is on a separate line. */
  isPadded: boolean
  end: string
}

/** `add(a=1)` in Python, and Gemma's `add{a:1}` */
export type LiteralSyntax = { kind: 'literals'; dialect: 'python' | 'gemma'; isList: boolean }

/** A message to a function, with a header: `functions.add<|channel|>commentary<|message|>{"a": 1}` */
export type MessageSyntax = { kind: 'message' }

/** Constant text, or text that may differ in each call: the tool's name, a number, an ID or an attribute's value. */
export type TextPart = string | { any: 'name' | 'number' | 'id' | 'attribute' }

/** The tools that a model may call, and the syntax of the calls. */
export type OptionalCalls = {
  syntax: CallSyntax
  tools: readonly { name: string; parameters: object }[]
}

/** A tool. `place` is the position of its schema in `root`, in which references are looked up. */
export type CallTool = { name: string; place: string; schema: object; root: object }
