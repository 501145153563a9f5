/**
 * `npm run wasm` compiles `wasm/leave-out.ts` and writes it into a TypeScript file. `npm run check` runs this with
 * `--check`: it fails while the two differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, stderr, stdout } from 'node:process'
import { main } from 'assemblyscript/asc'

const SOURCE = 'wasm/leave-out.ts'
const root = new URL('../', import.meta.url)
const file = new URL('server/events/protocol/leave-out.gen.ts', root)

let binary: Uint8Array = new Uint8Array()
const { error } = await main(
  [
    SOURCE,
    '--outFile',
    'out.wasm',
    '--runtime',
    'stub',
    '--noAssert',
    '-O3',
    '--enable',
    'simd',
    '--initialMemory',
    '8',
    '--maximumMemory',
    '8',
  ],
  {
    stdout,
    stderr,
    readFile: (name: string) => (name === SOURCE ? readFileSync(new URL(SOURCE, root), 'utf8') : null),
    writeFile: (_name: string, content: Uint8Array | string) => {
      if (typeof content !== 'string') binary = content
    },
    listFiles: () => [],
  },
)
if (error !== null) throw error
const text = `/** Written by \`npm run wasm\` from ${SOURCE}. */\nexport const WASM =\n  '${Buffer.from(binary).toString('base64')}'\n`
if (!argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  stdout.write(`leave-out.gen.ts is not current: npm run wasm\n`)
  process.exitCode = 1
}
