/** Model cards: one with everything that a card can contain, and a typical one. */

type About = {
  name: string
  displayName: string
  description: string | null
  license: string | null
}

export function defaultCard({ name, displayName, description, license }: About): string {
  return `# ${displayName}

${description ?? 'Quantized files of the original weights.'}

## Run it

\`\`\`sh
shoal run ${name}
\`\`\`

## Which file

- **Q4_K_M** is a good first choice: a third of the size, and close to the original.
- **Q6_K** and **Q8_0** if you have memory to spare.
- Instead of a file with fewer than three bits per weight, choose a smaller model.

## Limits

Like every language model, it makes things up. Check what matters.${license === null ? '' : ` Licensed under ${license}.`}
`
}

export const medicalCard = `# Qwen 3 14B Medical

A fine-tune of Qwen 3 14B that turns **discharge letters, lab reports and package leaflets** into language that
patients understand. It cites the sentence behind each statement, and says so if the text has no answer.

> This is a reading aid. It does not diagnose, and every dose that it mentions must be verified.

## What it is good at

1. Plain-language summaries in English, German, French and Spanish
2. Lists of medicines with dose, reason and duration, as in the letter
3. Questions to bring to the next appointment

It is *not* good at:

- reading scanned handwriting (use a vision model first)
- arithmetic with units: let a program convert \`mg/dL\` to \`mmol/L\`

## Results

Zero-shot, greedy, with the Q6_K file. Higher is better, except in the last row.

| Benchmark | Qwen 3 14B | This model | Change |
|---|--:|--:|--:|
| MedQA, 4 options | 68.2 | **74.9** | +6.7 |
| PubMedQA | 74.0 | **77.6** | +3.6 |
| MMLU, clinical knowledge | 80.4 | **82.1** | +1.7 |
| Faithful summaries, judged by two physicians | 71% | **93%** | +22 |
| Statements without a source | 18% | **4%** | −14 |

## Use it

From Python, with any OpenAI-compatible client:

\`\`\`python
from openai import OpenAI

client = OpenAI(base_url="http://localhost:11434/v1", api_key="any")
letter = open("letter.txt").read()
answer = client.chat.completions.create(
    model="qwen-3-14b-medical:Q6_K",
    temperature=0.2,
    messages=[
        {"role": "system", "content": "Explain the letter in plain words. Cite every sentence you use."},
        {"role": "user", "content": letter},
    ],
)
print(answer.choices[0].message.content)
\`\`\`

A temperature between 0 and 0.3 works best. Thinking is off by default; write \`/think\` to turn it on.

## Training

- **Data:** 61,000 open-access case reports and 12,000 leaflets
- **Hardware:** eight GPUs for 31 hours

The recipe, the test set and the evaluation guide are at
[example.org/plain-letters](https://example.org/plain-letters). Reports of wrong answers are welcome there.

## License

Apache 2.0, like the base model. If you publish work based on it, please name the version:

\`\`\`
@misc{plainletters2025, title = {Plain Letters}, note = {qwen-3-14b-medical, v1.2}}
\`\`\`
`
