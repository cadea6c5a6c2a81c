/** What a model says at length, and what it thinks before. */
import type { Piece } from '../../../packages/daemon/src/runtime/runtime.ts'

const thought = `They want to know how a file gets from one machine to many. I should explain chunks and hashes
first, then peers, and give an example that can be tried.`

const answer = `A file of 9 GB is cut into **chunks of 16 MB**, and each chunk has a hash. Whoever has a chunk can give
it on, because whoever gets it can check it.

## How a pull goes

1. The registry names the chunks and their hashes.
2. Your machine asks *several* sources at once: other people, and the registry itself.
3. Each chunk is checked as it arrives; a wrong one is thrown away and fetched again.
   - Nothing is trusted before it is checked.
   - What is there already is never fetched twice.

| Source | Speed | Costs the registry |
|---|--:|---|
| The registry alone | 12 MB/s | every byte |
| 4 peers | 48 MB/s | about a fifth |
| 20 peers | 110 MB/s | next to nothing |

In code, the heart of it is a queue and a check:

\`\`\`python
def pull(chunks, sources):
    for chunk in chunks:
        data = sources.fastest().fetch(chunk.index)
        if sha256(data) != chunk.hash:
            sources.report_bad_peer()
            continue  # the chunk goes back to the queue
        write(chunk.offset, data)
\`\`\`

> A peer that sends wrong bytes can slow you down, but it cannot change your file.

To try it, run \`shoal pull llama-3.2-3b-instruct\` on two machines and look at the line with the peers.`

const splitWords = (text: string): string[] => text.match(/\s*\S+/g) ?? []

export const spokenAnswer: Piece[] = [
  ...splitWords(thought.replaceAll('\n', ' ')).map((reasoning) => ({ reasoning })),
  ...splitWords(answer).map((text) => ({ text })),
]
