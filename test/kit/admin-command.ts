import { spawn } from 'node:child_process'
import { exitOf } from './processes.ts'

export type CommandResult = { readonly code: number | null; readonly lines: string[] }

/**
 * Runs `npm run admin -- <words>` in a process of its own, with these settings only.
 * @returns the exit code, and the lines of standard output and standard error
 */
export async function adminCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  input = '',
): Promise<CommandResult> {
  const child = spawn(process.execPath, ['server/main.ts', ...words], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stdin.end(input)
  const { code } = await exitOf(child)
  return { code, lines: out.trimEnd().split('\n') }
}
