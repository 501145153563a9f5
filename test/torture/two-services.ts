import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../kit/free-port.ts'
import { countStored, envelopePath, startTarget, waitUntilDigested } from './target.ts'
import { claim, none, print, skip, type TortureArgs, type Verdict } from './torture.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Process ids, shared memory and mounts of its own, as a container has. */
const CONTAINER = ['--pid', '--ipc', '--mount', '--fork', '--mount-proc']
const MAX_START_MS = 20_000

/**
 * T-48. Claim: a second start on the data directory of a running service ends with one line, also in namespaces of its own
 * and by another path, and what the first one acknowledged meanwhile is stored.
 */
export async function twoServices({ full }: TortureArgs): Promise<Verdict> {
  if (!(await succeeds('unshare', [...CONTAINER, 'true']))) return skip('this user may not create namespaces (unshare)')
  const folder = mkdtempSync(join(tmpdir(), 'faultline-two-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const link = join(folder, 'other-path')
  const { service, project, url } = await startTarget({ dataDir })
  symlinkSync(dataDir, link)
  let [acknowledged, isOver] = [0, false]
  const writer = async (): Promise<void> => {
    while (!isOver) {
      const body = `{}\n{"type":"event"}\n${JSON.stringify({ event_id: randomUUID().replaceAll('-', ''), message: 'two' })}`
      const answer = await fetch(url + envelopePath({ url, project }), { method: 'POST', body }).catch(() => null)
      if (answer?.status === 200) acknowledged++
      await delay(2)
    }
  }
  const writers = Array.from({ length: 8 }, writer)
  try {
    let [tries, ready, unclear] = [0, 0, 0]
    for (let round = 0; round < (full ? 20 : 3); round++) {
      for (const directory of [dataDir, link])
        for (const inContainer of [false, true]) {
          tries++
          const { code, output } = await startSecond(directory, inContainer)
          if (code === null) ready++
          const lines = output.split('\n').filter((line) => line.includes('already runs on'))
          if (code !== 1 || lines.length !== 1) {
            unclear++
            print(`  exit ${code}: ${output.trim().slice(0, 300)}`)
          }
        }
    }
    isOver = true
    await Promise.all(writers)
    await waitUntilDigested(url)
    const stored = await countStored(url)
    print(`  ${tries} second starts; ${acknowledged} events acknowledged meanwhile`)
    return {
      claims: [
        none('second starts that became ready', ready),
        none('second starts that ended otherwise than with exit 1 and one line', unclear),
        claim('0 acknowledged events lost', acknowledged - stored, stored === acknowledged && acknowledged > 0),
      ],
    }
  } finally {
    isOver = true
    await Promise.all(writers)
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts the product on the directory. @returns its exit code, null when it did not end */
async function startSecond(dataDir: string, inContainer: boolean): Promise<{ code: number | null; output: string }> {
  const words = [process.execPath, join(ROOT, 'scripts', 'start.mjs')]
  const [command = '', ...args] = inContainer ? ['unshare', ...CONTAINER, ...words] : words
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: '', PORT: String(await freePort()), FAULTLINE_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve)
  })
  const code = await Promise.race([ended, delay(MAX_START_MS, null)])
  if (code === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  await ended
  return { code, output }
}

const succeeds = (command: string, args: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(command, [...args], { stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
