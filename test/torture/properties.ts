import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { claim, print, type TortureArgs, type Verdict } from './torture.ts'

const root = join(import.meta.dirname, '../..')

/** Test files with more random cases at night: those that import test/kit/properties.ts. */
const propertyFiles = (): string[] =>
  globSync(['server/**/*.test.ts', 'shared/**/*.test.ts', 'test/flows/*.test.ts'], { cwd: root }).filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('kit/properties.ts'),
  )

/**
 * Runs properties with the number of random cases for a night. A counterexample is printed with the seed that repeats
 * it.
 */
export async function properties({ seed }: TortureArgs): Promise<Verdict> {
  const files = propertyFiles()
  print(files.join('\n'))
  const child = spawn(process.execPath, [join(root, 'scripts/test.mjs'), '--project', 'unit', ...files], {
    cwd: root,
    env: { ...process.env, TEST_PROPERTIES: 'nightly', TEST_SEED: String(seed) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    process.stdout.write(chunk)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const closing = text.trimEnd().split('\n').at(-1) ?? ''
  return { claims: [claim('every property of every file holds', closing, code === 0)] }
}
