import { expect, test } from 'vitest'
import { inspectIntakeLog } from '../../server/ingest/spool/open-intake-log.ts'
import { testAuthority } from '../kit/certificates.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { startNatsCluster } from '../kit/nats-cluster.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { natsServer } from './toolchains.ts'

/** The intake log in a cluster of three servers of NATS, each in a separate process. */

const STREAM = 'clients_spool'
const authority = testAuthority()
const ready = await natsServer()
const cluster =
  'command' in ready
    ? await startNatsCluster(ready.command[0] ?? '', { user: 'faultline', password: 'p@ss:word', tls: authority })
    : null
const server = await testServer({
  realTime: true,
  digestion: 'inline',
  env:
    cluster === null
      ? {}
      : { SPOOL_URL: cluster.url, SPOOL_CA: authority.cert, SPOOL_STREAM: STREAM, SPOOL_MAX_MB: '64' },
})
server.onClose(async () => cluster?.close())

test.skipIf(cluster === null)(
  `an event reaches its issue through a replicated log over TLS, a large one too, and while a server is down${'missing' in ready ? ` (${ready.missing})` : ''}`,
  async () => {
    if (cluster === null) return
    const project = await aProject(await aFounder(server.url))
    const dsn = new URL(project.dsn)
    const send = async (text: string, padding = 0): Promise<number> => {
      const event = JSON.stringify({ exception: [{ type: 'LogError', value: text }] })
      const header = JSON.stringify({ type: 'attachment', filename: 'a.txt', length: padding })
      const file = padding === 0 ? '' : `${header}\n${'x'.repeat(padding)}\n`
      const path = `${server.url}/api${dsn.pathname}/envelope/?sentry_key=${dsn.username}`
      return (await fetch(path, { method: 'POST', body: `{}\n{"type":"event"}\n${event}\n${file}` })).status
    }
    const stored = (count: number): Promise<true> =>
      waitFor(`${count} events`, async () => {
        const { rows } = await server.app.db.query<{ n: number }>('select count(*)::int as n from events')
        return rows[0]?.n === count
      })

    await waitFor('the log to be connected', async () => (await send('first')) === 200)
    await stored(1)
    const settings = server.app.config.intakeLog
    if (settings === null) throw new Error('no log is configured')
    const setup = await inspectIntakeLog(settings, server.app.log)
    expect(setup).toMatchObject({ replicas: 3, currentReplicas: 3, faults: [] })

    expect(await send('large', 3_000_000)).toBe(200)
    await stored(2)
    const { rows } = await server.app.db.query<{ bytes: number }>(
      'select sum(size_bytes)::int as bytes from attachments',
    )
    expect(rows[0]?.bytes).toBe(3_000_000)

    await cluster.kill(await cluster.leader(STREAM))
    expect(await send('without the leader')).toBe(200)
    await stored(3)
    const health: unknown = await (await fetch(`${server.url}/readyz`)).json()
    expect(health).toMatchObject({ checks: { intake_log: { ok: true, detail: '0 messages, oldest 0 s' } } })
    const metrics = await (await fetch(`${server.url}/-/metrics`)).text()
    expect(metrics).toMatch(/^faultline_intake_log_stored_total [3-9]/m)
  },
)
