import { argv, stdout } from 'node:process'
import { createApp } from '#server/service/app.ts'
import { startService } from '#server/service/cli/service.ts'
import { readConfig } from '#server/config/config.ts'
import type { FactSubscriber } from '#server/platform/context/actor.ts'

/** The service with a subscriber that writes every fact to the table `kept_facts`; prints its port when it listens. */

const [connectionString = '', dataDir = '', publicUrl = '', port = '0'] = argv.slice(2)

const keep: FactSubscriber = async (tx, _context, facts) => {
  await tx.query(
    `insert into kept_facts (id, kind, fact) select (f ->> 'id')::uuid, f ->> 'kind', f from jsonb_array_elements($1::jsonb) f`,
    [JSON.stringify(facts)],
  )
}

const config = readConfig({
  FAULTLINE_DATA_DIR: dataDir,
  PUBLIC_URL: publicUrl,
  PORT: port,
  LOG_LEVEL: 'silent',
  RATE_LIMIT_SCALE: '0',
})
const app = await createApp(config, connectionString, 6, 'fact keeper', { factSubscribers: [keep] })
const service = await startService(app, connectionString, { digestion: 'inline', jobs: false })
stdout.write(`${service.port}\n`)
