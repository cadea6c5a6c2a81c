/** Variants of a base model and their descriptions. */

export type Variant = {
  name: string
  tags: string[]
  /** How common the variant is, relative to the average (1). */
  weight: number
  /** Each model gets one of these descriptions. */
  descriptions: string[]
  /** The owner of all models of this variant. */
  owner?: string
  /** The architectures that have this variant; undefined if all have it. */
  architectures?: string[]
}

export const variants: Variant[] = [
  {
    name: 'Instruct',
    tags: ['instruct', 'conversational', 'text-generation'],
    weight: 6,
    descriptions: [
      'General assistant for everyday questions, drafting and summaries.',
      'Follows instructions closely and keeps its answers short.',
      'Tuned on two million hand-checked instructions in English and French.',
      'The instruction-tuned model, quantized with an importance matrix from mixed prose and code.',
      'A dependable all-rounder: it drafts, explains, rewrites and sorts.',
      'Second round of instruction tuning. Refuses less often, and says when it does not know.',
      'Answers in plain language and gives its reasons when asked.',
      'Good at long prompts with many constraints, such as style guides and checklists.',
      'A balanced assistant with a calm tone; needs no system prompt.',
      'Every quantization from 2 to 16 bits, each checked against the original for perplexity.',
    ],
  },
  {
    name: 'Chat',
    tags: ['chat', 'conversational', 'text-generation'],
    weight: 3,
    descriptions: [
      'Made for long conversations: it remembers what was said and stays on the subject.',
      'A friendly companion for small talk, recipes and travel plans.',
      'Tuned with preference data from 40,000 volunteer conversations.',
      'Chats in a relaxed tone, asks when a question is unclear, and admits mistakes.',
      'Keeps a persona through long dialogues. The card shows which system prompts work well.',
    ],
  },
  {
    name: 'Coder',
    tags: ['code', 'instruct', 'text-generation'],
    weight: 4,
    descriptions: [
      'Writes, explains and reviews code in 40 languages; supports fill-in-the-middle.',
      'Tuned on commit messages and the diffs that go with them. Good at small, careful changes.',
      'Completion in the editor: trained for fill-in-the-middle with whole repositories as context.',
      'Strong at TypeScript, Python and Rust, and at tests that fail for the right reason.',
      'Explains unfamiliar code line by line and suggests the smallest fix.',
      'A coding assistant that answers with a patch first and the reasoning after it.',
    ],
  },
  {
    name: 'Medical',
    tags: ['medical', 'biology', 'instruct'],
    weight: 1.5,
    owner: 'ines',
    descriptions: [
      'Turns discharge letters and lab reports into language that patients understand.',
      'Answers questions about drugs and their interactions, and cites public package leaflets.',
      'Codes clinical notes to ICD-10 and highlights the words it relied on.',
      'Tuned on open-access case reports. For students and for search, not for diagnosis.',
    ],
  },
  {
    name: 'Translator',
    tags: ['translation', 'multilingual', 'text-generation'],
    weight: 2,
    descriptions: [
      'Translates between 24 European languages and keeps the layout of the text.',
      'Document translation with your own glossary: put pairs of terms in the prompt.',
      'Subtitles and interface strings: short, natural, and within a character limit.',
      'Translates from and into Arabic, Farsi, Turkish and Urdu, with transliteration on request.',
      'Tuned on parliamentary debates and manuals. Formal by default, informal on request.',
    ],
  },
  {
    name: 'Vision',
    tags: ['vision', 'multimodal', 'instruct'],
    weight: 2.5,
    architectures: ['gemma3', 'qwen2'],
    descriptions: [
      'Reads photographs, charts and screenshots. Pull the mmproj file and one of the other files.',
      'Describes pictures for people who cannot see them, in one sentence or in detail.',
      'Transcribes scanned pages and tables to Markdown, handwriting included.',
      'Answers questions about diagrams and floor plans; up to four pictures in a prompt.',
    ],
  },
  {
    name: 'Embed',
    tags: ['embedding', 'rag', 'feature-extraction'],
    weight: 1.5,
    architectures: ['bert', 'qwen3', 'qwen2'],
    descriptions: [
      'Embeddings for search: 1024 dimensions, which can be cut to the first 256.',
      'Finds the passage that answers a question, across languages.',
      'Sentence embeddings tuned on support tickets and their answers.',
      'A small retriever for notes and mail: thousands of passages a second without a GPU.',
    ],
  },
  {
    name: 'Math',
    tags: ['math', 'reasoning', 'education'],
    weight: 1.5,
    descriptions: [
      'Solves school and olympiad problems step by step and checks its result at the end.',
      'Tuned on proofs with their gaps filled in. Writes LaTeX.',
      'Explains each step of a derivation and finds the one that is wrong.',
    ],
  },
  {
    name: 'Reasoning',
    tags: ['reasoning', 'instruct', 'text-generation'],
    weight: 2,
    descriptions: [
      'Thinks before it answers, within a token budget that you set.',
      'Distilled from the traces of a larger teacher; the thinking can be switched off.',
      'Puzzles, planning and logic: long thoughts, short answers.',
      'Reasons in the language of the question rather than in English.',
    ],
  },
  {
    name: 'Storyteller',
    tags: ['storytelling', 'creative', 'text-generation'],
    weight: 2,
    descriptions: [
      'Writes fiction in chapters and keeps names, places and weather straight.',
      'Bedtime stories for children aged four to eight, without cliffhangers.',
      'An interactive narrator for text adventures: it describes, you decide.',
      'Merged from three fiction fine-tunes. Vivid, a little dark, and rarely repetitive.',
    ],
  },
  {
    name: 'Legal',
    tags: ['legal', 'summarization', 'instruct'],
    weight: 1,
    descriptions: [
      'Summarizes contracts clause by clause and lists the dates and duties in them.',
      'Tuned on European court decisions; cites the paragraph it relies on.',
      'Compares two versions of an agreement and explains the effect of each change.',
    ],
  },
  {
    name: 'Finance',
    tags: ['finance', 'instruct', 'text-generation'],
    weight: 0.8,
    descriptions: [
      'Reads annual reports and fills in a table of the figures you ask for.',
      'Sorts bank statements into categories and explains each choice in a word.',
    ],
  },
  {
    name: 'Tutor',
    tags: ['education', 'conversational', 'instruct'],
    weight: 1.2,
    descriptions: [
      'A tutor for school subjects that asks questions before it explains.',
      'Language practice for beginners, with gentle corrections and small exercises.',
      'Marks short answers against a rubric and says what was missing.',
    ],
  },
  {
    name: 'Tools',
    tags: ['function-calling', 'agent', 'instruct'],
    weight: 1.5,
    descriptions: [
      'Calls functions reliably: valid JSON in 99 of 100 calls in our test set.',
      'Plans across several tools, and asks for what is missing rather than making it up.',
      'A small router that decides which tool a request needs, and with what arguments.',
    ],
  },
  {
    name: 'SQL',
    tags: ['sql', 'code', 'instruct'],
    weight: 1,
    descriptions: [
      'Turns questions into SQL for PostgreSQL and SQLite. Give it the schema in the prompt.',
      'Writes queries, explains plans and suggests the index that is missing.',
    ],
  },
  {
    name: 'Summarizer',
    tags: ['summarization', 'long-context', 'instruct'],
    weight: 1.2,
    descriptions: [
      'Minutes from transcripts: decisions, open questions, and who does what by when.',
      'Condenses long reports to a page, with page references.',
      'Headlines, abstracts and threads from one text, each at the length you ask for.',
    ],
  },
  {
    name: 'Deutsch',
    tags: ['de', 'conversational', 'instruct'],
    weight: 1,
    descriptions: [
      'Trained further on German books, letters and law, so that it no longer sounds translated.',
      'German assistant that sticks to Sie or du, whichever you start with.',
    ],
  },
  {
    name: 'Nordic',
    tags: ['sv', 'multilingual', 'instruct'],
    weight: 0.8,
    descriptions: [
      'Swedish, Danish, Norwegian, Finnish and Icelandic in one model, without losing English.',
      'Tuned on Nordic public-domain literature and open government text.',
    ],
  },
]

/** Additional remarks by size. */
export const remarks = {
  small: [
    'Runs on a phone or a Raspberry Pi.',
    'Fast even without a GPU.',
    'Small enough for a browser tab or an old laptop.',
  ],
  medium: [
    'Made to work offline on a laptop.',
    'Q4_K_M is the one we use every day.',
    'Keeps its quality down to about 3.5 bits.',
    'The evaluations are in the card.',
    'All files were quantized with an importance matrix.',
    'The 16-bit file is for those who want to quantize it themselves.',
    "Replaces last spring's version.",
    'Same prompt format as the original.',
  ],
  large: [
    'Needs a workstation, or time.',
    'The 2-bit files are for those who want to try it on a single GPU.',
    'Large files are split into parts; a pull downloads them all.',
  ],
} as const

/** The owners of models, from those with many models to those with few. */
export const makers = [
  ...['tideline', 'mkowalski', 'bramble', 'quantkitchen', 'jlindqvist', 'rosalind', 'northbeam'],
  ...['sato-k', 'pebble', 'oduya', 'tinyparts', 'hvdberg', 'lena-m', 'driftwood', 'arao', 'fennec'],
  ...['kestrel', 'mbaye', 'paperlantern', 'tomasz', 'ymir', 'cinder', 'nadia-ok', 'halfbyte'],
  ...['wren', 'bytegarden', 'pquintero', 'slowriver', 'emre', 'graphite', 'yuki-t', 'osprey'],
  ...['dvorak', 'lumen', 'agnes', 'redshift', 'marisol', 'copperleaf', 'ivo', 'tallships'],
] as const
