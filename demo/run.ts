/**
 * `npm run demo`: fills a folder of its own with thirty days of a made-up organisation, through intake and API, and serves
 * it. The next run serves the same folder.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { readConfig } from '#server/config/config.ts'
import { chooseDataDir } from '#server/platform/embedded-postgres/data-dir.ts'
import { DAY_MS, HOUR_MS } from '#server/platform/kernel/day.ts'
import { serveCommand } from '#server/service/cli/serve-command.ts'
import { DAYS, OWNER } from './apps.ts'
import { openStage } from './stage.ts'
import { tell, type Progress } from './story.ts'

const HELP = `npm run demo [-- --data=<folder>] [--fresh] [--fill-only] [--every=<n>]

Serves a made-up organisation with thirty days of data. The first run makes it, in about a minute.

--data=<folder>   where it is kept (default: demo-data)
--fresh           make it again, with today as its last day
--fill-only       make it and end
--every=<n>       make it of each n-th request: sooner, with fewer events (default: 1)
Other settings are environment variables, for example:  PORT=9000 npm run demo
`

/** In the data folder: that it belongs to the demonstration, and how to log in. */
const Mark = z.object({ state: z.enum(['filling', 'filled']), madeAt: z.iso.datetime(), password: z.string() })
type Mark = z.infer<typeof Mark>

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: 'demo-data' },
    fresh: { type: 'boolean', default: false },
    'fill-only': { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const every = Number(options.every)
if (options.help || !Number.isInteger(every) || every < 1) {
  process.stdout.write(HELP)
  process.exitCode = options.help ? 0 : 1
} else await main()

async function main(): Promise<void> {
  const { dataDir } = chooseDataDir(resolve(options.data), false)
  const mark = readMark(dataDir)
  if (mark === null && existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    process.stderr.write(`${dataDir} holds other data. Name a folder that does not exist with --data=<folder>.\n`)
    process.exitCode = 1
    return
  }
  const made = mark?.state === 'filled' && !options.fresh ? mark : await fill(dataDir)
  if (options['fill-only']) return
  const ageDays = Math.floor((Date.now() - Date.parse(made.madeAt)) / DAY_MS)
  process.env['FAULTLINE_DATA_DIR'] = dataDir
  await serveCommand(null)
  const lines = [
    `Open  ${readConfig().publicUrl}`,
    `Log in as  ${OWNER.email}  with the password  ${made.password}`,
    ...(ageDays > 0 ? [`The data ends ${ageDays} days ago: npm run demo -- --fresh makes it again.`] : []),
  ]
  process.stdout.write(`\n${lines.map((line) => `  ${line}\n`).join('')}\n`)
}

function readMark(dataDir: string): Mark | null {
  try {
    return Mark.parse(JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')))
  } catch {
    return null
  }
}

function writeMark(dataDir: string, mark: Mark): Mark {
  writeFileSync(join(dataDir, 'demo.json'), `${JSON.stringify(mark)}\n`, { mode: 0o600 })
  return mark
}

/** Makes the data. The rest of an interrupted run is removed: the mark says that it is ours. */
async function fill(dataDir: string): Promise<Mark> {
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  chmodSync(dataDir, 0o755)
  const startedMs = performance.now()
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000
  // A fixed one would be known to every reader of this file, and the service may be open to a network.
  const password = `meadow-${randomBytes(9).toString('base64url')}`
  writeMark(dataDir, { state: 'filling', madeAt: new Date(nowMs).toISOString(), password })
  process.stdout.write(`Making ${DAYS} days of data in ${dataDir}\n`)
  const stage = await openStage(dataDir, nowMs - DAYS * DAY_MS - HOUR_MS, (line) => process.stdout.write(`${line}\n`))
  try {
    await tell(stage, nowMs, { password, every }, progressLine())
  } finally {
    await stage.close()
  }
  process.stdout.write(`Made in ${Math.round((performance.now() - startedMs) / 1000)} s\n`)
  return writeMark(dataDir, { state: 'filled', madeAt: new Date(nowMs).toISOString(), password })
}

/** A line that is written again on a terminal, one line for every fifth of the work elsewhere. */
function progressLine(): (progress: Progress) => void {
  let last = -1
  return ({ share, atMs, sent }) => {
    const day = new Date(atMs).toISOString().slice(0, 10)
    const text = `${String(Math.round(share * 100)).padStart(3)} %  ${day}  ${sent.toLocaleString('en')} requests`
    if (process.stdout.isTTY) {
      process.stdout.write(`\r\u001B[2K${text}${share === 1 ? '\n' : ''}`)
      return
    }
    const part = Math.floor(share * 5)
    if (part === last) return
    last = part
    process.stdout.write(`${text}\n`)
  }
}
