/** A long answer from a model, with its reasoning. */
import type { Piece } from '../../../packages/daemon/src/runtime/runtime.ts'

const thought = `They want to know how a file gets from one machine to many. I should explain chunks and hashes
first, then peers, and give an example that can be tried.`

const answer = `A file of 9 GB is split into **chunks of 16 MB**, and each chunk has a hash. Anyone who has a chunk can pass
it on, because the receiver can verify it.

## How a pull works

1. The registry lists the chunks and their hashes.
2. Your machine requests chunks from *several* sources at once: peers, and the registry itself.
3. Each chunk is verified as it arrives; a wrong one is discarded and downloaded again.
   - Nothing is trusted before it is verified.
   - No correct chunk is downloaded twice.

| Source | Speed | Sent by the registry |
|---|--:|---|
| Only the registry | 12 MB/s | every byte |
| 4 peers | 48 MB/s | about a fifth |
| 20 peers | 110 MB/s | next to nothing |

In code, it is essentially a queue and a check:

\`\`\`python
def pull(chunks, sources):
    for chunk in chunks:
        data = sources.fastest().fetch(chunk.index)
        if sha256(data) != chunk.hash:
            sources.report_bad_peer()
            continue  # the next round fetches the chunk again
        write(chunk.offset, data)
\`\`\`

> A peer that sends wrong bytes can slow you down, but it cannot change your file.

To try it, run \`shoal pull llama-3.2-3b-instruct\` on two machines and watch the number of peers.`

const splitWords = (text: string): string[] => text.match(/\s*\S+/g) ?? []

export const spokenAnswer: Piece[] = [
  ...splitWords(thought.replaceAll('\n', ' ')).map((reasoning) => ({ reasoning })),
  ...splitWords(answer).map((text) => ({ text })),
]
