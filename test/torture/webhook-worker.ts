import { argv } from 'node:process'
import { createApp } from '#server/service/app.ts'
import { CHANNELS } from '#server/service/channels.ts'
import { readConfig } from '#server/config/config.ts'
import { startDeliverer } from '#server/platform/outbox/start-deliverer.ts'

/**
 * A process with the role `deliver` and nothing else, for tests that kill it: the engine and the channels of the product.
 * Arguments: the database, milliseconds of a lease, milliseconds of an attempt at most. The rest is in its environment.
 */
const [, , connectionString = '', lease = '', timeout = ''] = argv
const app = await createApp(readConfig(), connectionString, 4, 'worker')
const channels = CHANNELS.map((channel) => ({ ...channel, timeoutMs: Math.min(channel.timeoutMs, Number(timeout)) }))
const deliverer = startDeliverer(app, channels, { leaseMs: Number(lease) })
process.once('SIGTERM', () => {
  void deliverer
    .stop(4_000)
    .then(() => app.close())
    .then(() => process.exit(0))
})
process.stdout.write('ready\n')
