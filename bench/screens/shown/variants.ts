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
    ],
  },
  {
    name: 'Math',
    tags: ['math', 'reasoning', 'education'],
    weight: 1.5,
    descriptions: [
      'Solves school and olympiad problems step by step and checks its result at the end.',
      'Tuned on proofs with their gaps filled in. Writes LaTeX.',
    ],
  },
  {
    name: 'Reasoning',
    tags: ['reasoning', 'instruct', 'text-generation'],
    weight: 2,
    descriptions: [
      'Thinks before it answers, within a token budget that you set.',
      'Distilled from the traces of a larger teacher; the thinking can be switched off.',
    ],
  },
  {
    name: 'Storyteller',
    tags: ['storytelling', 'creative', 'text-generation'],
    weight: 2,
    descriptions: [
      'Writes fiction in chapters and keeps names, places and weather straight.',
      'Bedtime stories for children aged four to eight, without cliffhangers.',
    ],
  },
]

/** Additional remarks by size. */
export const remarks = {
  small: ['Runs on a phone or a Raspberry Pi.', 'Fast even without a GPU.'],
  medium: ['Made to work offline on a laptop.', 'The evaluations are in the card.'],
  large: [
    'Needs a workstation, or time.',
    'Large files are split into parts; a pull downloads them all.',
  ],
} as const

/** The owners of models, from those with many models to those with few. */
export const makers = [
  ...['tideline', 'mkowalski', 'bramble', 'quantkitchen', 'jlindqvist', 'rosalind', 'northbeam'],
  ...['sato-k', 'pebble', 'oduya', 'tinyparts', 'hvdberg', 'lena-m', 'driftwood', 'arao', 'fennec'],
] as const
