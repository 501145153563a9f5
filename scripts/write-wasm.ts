/**
 * `npm run wasm` compiles `wasm/leave-out.ts` and writes it into a TypeScript file. `npm run check` runs this with
 * `--check`: it fails while the two differ.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, execPath, stdout } from 'node:process'

const SOURCE = 'wasm/leave-out.ts'
const root = join(import.meta.dirname, '..')
const file = join(root, 'server/events/protocol/leave-out.gen.ts')
const folder = mkdtempSync(join(tmpdir(), 'faultline-wasm-'))
const compiled = join(folder, 'out.wasm')

// As a program: its types declare globals of AssemblyScript beside those of Node.
const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js')
const options = '--runtime stub --noAssert -O3 --enable simd --initialMemory 8 --maximumMemory 8'.split(' ')
try {
  execFileSync(execPath, [compiler, SOURCE, '--outFile', compiled, ...options], { cwd: root, stdio: 'inherit' })
  const binary = readFileSync(compiled).toString('base64')
  const text = `/** Written by \`npm run wasm\` from ${SOURCE}. */\nexport const WASM =\n  '${binary}'\n`
  if (!argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    stdout.write('leave-out.gen.ts is not current: npm run wasm\n')
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
