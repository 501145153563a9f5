import { describe, expect, test } from 'vitest'
import { aFounder, aProject } from '../kit/founder.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { PROCESS_CLIENTS } from './clients.ts'
import { complaints, outcomesOf } from './outcomes.ts'
import { expectShown } from './reader.ts'
import { localDsn, run } from './run.ts'
import { noteRun, writeTableWhenAsked } from './table.ts'

/** Published SDKs of many languages, unmodified, in separate processes; only the DSN is ours. */

const server = await testServer({ realTime: true, digestion: 'inline' })
server.onClose(writeTableWhenAsked)

// In parallel: each toolchain installs or compiles into a separate folder, and mostly waits.
const clients = await Promise.all(
  PROCESS_CLIENTS.map(async (client) => {
    const ready = await client.prepare()
    return 'command' in ready
      ? { ...client, title: client.name, command: ready.command }
      : { ...client, title: `${client.name} (${ready.missing})`, command: [] }
  }),
)

for (const { name, title, command, crashes, shows } of clients) {
  describe.skipIf(command.length === 0)(title, () => {
    test('a member reads what it sends', async () => {
      const person = await aFounder(server.url)
      const project = await aProject(person)
      const env = { SENTRY_DSN: localDsn(project.dsn, server.url) }
      const [story, crash] = await Promise.all([
        run(command, { env }),
        crashes ? run([...command, 'crash'], { env }) : null,
      ])
      expect(story.code, story.output).toBe(0)
      if (crash !== null) expect(crash.code, crash.output).not.toBe(0)
      // Its processes have exited, so nothing more will be spooled.
      await waitFor('digestion', async () => {
        const { rows } = await server.app.db.query('select 1 from spool limit 1')
        return rows.length === 0
      })
      await expectShown(person, project, shows)
      const outcomes = await outcomesOf(server.app, project.number)
      expect(complaints(outcomes)).toEqual([])
      noteRun('live', name, outcomes)
    })
  })
}
