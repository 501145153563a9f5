import { spawn } from 'node:child_process'

const TIMEOUT_MS = 60_000

/** A program that has ended, and what it printed. */
export type Ended = { readonly code: number | null; readonly output: string }

/** Runs a program with nothing of our environment but `PATH`. */
export function run(
  command: readonly string[],
  { env = {}, cwd }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const [program = '', ...args] = command
    const child = spawn(program, args, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      ...(cwd === undefined ? {} : { cwd }),
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

/** DSNs contain the configured address; tests listen on another port. */
export function localDsn(dsn: string, serviceUrl: string): string {
  const url = new URL(dsn)
  url.host = new URL(serviceUrl).host
  return url.toString()
}
