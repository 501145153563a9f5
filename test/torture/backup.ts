import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { startService } from '#bench/service.ts'
import { adminCommand } from '#test/kit/admin-command.ts'
import { runningEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { envelopePath, startTarget, waitUntilDigested } from './target.ts'
import { claim, none, print, type TortureArgs, type Verdict } from './torture.ts'

const WRITERS = 4
const BETWEEN_MS = 1_500
const Answer = z.object({ id: z.string() })

/**
 * T-41. Claim: a backup that is written under load, and restored, has every event that was acknowledged before it began,
 * each once, and audit logs that verify.
 */
export async function backup({ full, options }: TortureArgs): Promise<Verdict> {
  const rounds = Number(options['rounds'] ?? (full ? 10 : 2))
  const base = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(base, 0o711)
  const dataDir = join(base, 'data')
  const folder = join(base, 'backups')
  const { service, project, url } = await startTarget({ dataDir })
  const acknowledged: string[] = []
  let isWriting = true
  const writer = async (): Promise<void> => {
    while (isWriting) {
      const body = `{}\n{"type":"event"}\n${JSON.stringify({ message: 'paid', user: { id: String(acknowledged.length) } })}`
      const answer = await fetch(url + envelopePath({ url, project }), { method: 'POST', body })
      if (answer.status === 200) acknowledged.push(Answer.parse(await answer.json()).id)
      else await delay(20)
    }
  }
  const writers = Array.from({ length: WRITERS }, writer)
  let [lost, twice, broken, failed, before] = [0, 0, 0, 0, 0]
  try {
    for (let round = 1; round <= rounds; round++) {
      await delay(BETWEEN_MS)
      const known = [...acknowledged]
      before = known.length
      const made = await adminCommand(['backup', folder, '--keep', '2'], { FAULTLINE_DATA_DIR: dataDir })
      const target = join(base, `restored-${round}`)
      mkdirSync(target, { mode: 0o711 })
      cpSync(join(dataDir, 'keys'), join(target, 'keys'), { recursive: true })
      const restored = await adminCommand(['restore', folder], { FAULTLINE_DATA_DIR: target })
      if (made.code !== 0 || restored.code !== 0) {
        failed++
        print(`  round ${round}: ${made.lines.at(-1)} ${restored.lines.at(-1)}`)
        continue
      }
      const found = await examine(target)
      const stored = new Set(found.ids)
      lost += known.filter((id) => !stored.has(id)).length
      twice += found.ids.length - stored.size
      if (!found.isVerified) broken++
      print(`  round ${round}: ${known.length} acknowledged before, ${stored.size} restored; ${made.lines.at(-1)}`)
      rmSync(target, { recursive: true, force: true })
    }
  } finally {
    isWriting = false
    await Promise.all(writers)
    await service.stop()
    rmSync(base, { recursive: true, force: true, maxRetries: 20 })
  }
  return {
    claims: [
      none('backups and restores failed', failed),
      claim('0 events lost that were acknowledged before', lost, lost === 0 && before > 0),
      none('events twice', twice),
      none('audit logs broken', broken),
    ],
  }
}

/** Lets a service digest what waits in the restored database, and reads its events. */
async function examine(dataDir: string): Promise<{ ids: string[]; isVerified: boolean }> {
  const service = await startService({ dataDir, env: { FAULTLINE_CANARY_MINUTES: '0', LOG_LEVEL: 'silent' } })
  try {
    await waitUntilDigested(service.url)
    const running = runningEmbeddedPostgres(dataDir)
    if (running === null) throw new Error('the restored database does not run')
    const client = new pg.Client({ connectionString: running.connectionString })
    await client.connect()
    const { rows } = await client.query<{ id: string }>(`select replace(event_id::text, '-', '') as id from events`)
    await client.end()
    const verified = await adminCommand(['audit', 'verify'], { FAULTLINE_DATA_DIR: dataDir })
    return { ids: rows.map(({ id }) => id), isVerified: verified.code === 0 }
  } finally {
    await service.stop()
  }
}
