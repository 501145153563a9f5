import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { setUpProject } from '#bench/setup-project.ts'
import { startService } from '#bench/service.ts'
import { watchReaders } from './readers.ts'
import { mountLimitedDisk } from './limited-disk.ts'
import { waitUntilDigested } from './target.ts'
import { atMost, claim, none, print, skip, type TortureArgs, type Verdict } from './torture.ts'
import { claimsOf, examine, startWriters } from './writers.ts'

const DISK_MIB = 900
const BACK_GOAL_S = 10
/** The intake checks the free space once a second; until then it may still accept what it can store. */
const NOTICED_MS = 2_500

/**
 * T-05: fills the disk of the data directory under load. Claim: ingestion refuses with Retry-After, members can read,
 * nothing acknowledged is lost or damaged, and ingestion resumes once there is space.
 */
export async function diskFull({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const seconds = Number(options['seconds'] ?? (full ? 60 : 15))
  const folder = mkdtempSync(join(tmpdir(), 'faultline-disk-'))
  const disk = mountLimitedDisk(join(folder, 'disk'), DISK_MIB)
  if ('missing' in disk) {
    rmSync(folder, { recursive: true, force: true })
    return skip(disk.missing)
  }
  chmodSync(folder, 0o755)
  const dataDir = join(disk.path, 'data')
  const sideFile = join(folder, 'acknowledged.txt')
  const service = await startService({
    dataDir,
    env: { RATE_LIMIT_SCALE: '0', FAULTLINE_CANARY_MINUTES: '0', LOG_LEVEL: 'silent' },
  })
  try {
    const project = await setUpProject(service.url)
    const writers = startWriters(project, { count: 4, seed, sideFile, url: service.url })
    const readers = watchReaders(service.url, project.cookie)
    // After the first half minute there is a reserve; a disk that fills earlier has none.
    await delay(8_000)
    print(`  the disk is full: ${disk.fill()} bytes free of ${DISK_MIB} MiB`)
    await delay(NOTICED_MS)
    writers.answers.clear()
    readers.begin()
    await delay(seconds * 1000)
    const answers = [...writers.answers].map(([status, times]) => `${status === 0 ? 'cut' : status} × ${times}`)
    const odd = [...writers.answers.keys()].filter((status) => status !== 503 && status !== 429)
    const read = readers.end()
    print(`  SDKs while it was full: ${answers.join(', ')}; readers: ${read.ok} of ${read.all} pages`)

    disk.empty()
    const roomAt = performance.now()
    const since = writers.accepted
    while (writers.accepted === since && performance.now() - roomAt < 60_000) await delay(10)
    const backS = (performance.now() - roomAt) / 1000
    await delay(3_000)
    writers.stopped = true
    await writers.done
    readers.stop()
    await waitUntilDigested(service.url)
    const exit = await service.stop()
    const found = await examine(dataDir, sideFile)
    return {
      claims: [
        claim(`${seconds} s without room: 503 or 429`, answers.join(', '), odd.length === 0 && answers.length > 0),
        claim(
          'members can read: ≥95 %',
          `${read.ok} of ${read.all}, longest gap ${(read.gapMs / 1000).toFixed(1)} s`,
          read.ok >= read.all * 0.95,
        ),
        atMost('back after there is room', BACK_GOAL_S, backS, ' s'),
        ...claimsOf(writers, found),
        none('tables that cannot be read', found.unreadable),
        claim('stops as usual', `exit code ${exit}`, exit === 0),
      ],
    }
  } finally {
    await service.stop().catch(() => {})
    disk.unmount()
    rmSync(folder, { recursive: true, force: true })
  }
}
