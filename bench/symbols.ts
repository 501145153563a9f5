import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, openAsBlob, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Event } from '#server/events/protocol/event.api.ts'
import { isRecord } from '#server/events/protocol/json.ts'
import { normalizeEvent } from '#server/events/protocol/normalize.ts'
import { isGroupedByLine } from '#server/issues/grouping/grouping.ts'
import type { App } from '#server/platform/context/app.ts'
import { threadCpuMs } from '#server/platform/kernel/thread-task.ts'
import type { SymbolKind } from '#server/symbols/files/symbol-kinds.api.ts'
import { makeReadable, symbolicateFor } from '#server/symbols/symbolication/symbolicator.ts'
import { type BenchArgs, type BenchResult, type Figure, median } from './bench.ts'
import { onDatabase } from './disk.ts'
import { drainedPerSecond, type Fed, feedAndWatch, processorPerEvent, serviceMs, waitUntilDrained } from './feed.ts'
import { describe } from './intake.ts'
import { embeddedPostgresVersion } from './postgres-version.ts'
import { memoryOfTree } from './process-tree.ts'
import { type Service, startService } from './service.ts'
import { addProject, type BenchProject, setUpProject } from './setup-project.ts'
import { type AppFile, type AppName, APPS, largeMaps, type SymbolApp } from './symbol-files/apps.ts'
import { makeDebugFile } from './symbol-files/debug-file.ts'

export const summary =
  'P14: source maps, mappings and debug files indexed and looked up; digestion with files beside digestion without, in pairs (--apps=web,react-native,android,ios, --pairs=3, --seconds=12, --issues=200, --quick, --long, --large: a debug file of 500 MB)'

const WARM_UP_MS = 6_000
const LARGE_FILE_BYTES = 500_000_000

type Figures = Record<string, Figure>
type Progress = (line: string) => void

export async function run({ long, options }: BenchArgs): Promise<BenchResult> {
  const progress: Progress = (line) => process.stdout.write(`            ${line}\n`)
  const quick = options['quick'] === 'true'
  const pairs = Number(options['pairs'] ?? (quick ? 1 : long ? 7 : 3))
  const seconds = Number(options['seconds'] ?? (quick ? 6 : long ? 30 : 12))
  const shape = { issues: Number(options['issues'] ?? 200), variants: 1 }
  const names = (options['apps'] ?? Object.keys(APPS).join(',')).split(',').filter(isAppName)
  const figures: Figures = {}
  const notes: string[] = []
  const scratch = mkdtempSync(join(tmpdir(), 'faultline-symbols-'))
  chmodSync(scratch, 0o755)
  const dataDir = join(scratch, 'data')
  const service = await startService({ env: { RATE_LIMIT_SCALE: '0' }, dataDir })
  const looked: { readonly name: string; readonly app: SymbolApp; readonly project: BenchProject }[] = []
  try {
    const project = await setUpProject(service.url)
    progress('three source maps of 20 MB')
    const maps = largeMaps(shape)
    const timings: Timing[] = []
    for (const file of maps.files) timings.push(await upload(service, project, file))
    const [first] = maps.files
    if (first !== undefined) {
      figures['map of 20 MB: size'] = { value: sizeOf(first) / 1e6, unit: 'MB' }
      figures['map of 20 MB: accepted after'] = { value: median(timings.map(({ uploadMs }) => uploadMs)), unit: 'ms' }
      figures['map of 20 MB: accepted → ready'] = {
        value: median(timings.map(({ indexMs }) => indexMs)),
        unit: 'ms',
        goal: '≤1,500 ms (P14)',
      }
      Object.assign(figures, await indexAlone('map of 20 MB', first, 'js_source_map', scratch))
    }
    looked.push({ name: 'map of 20 MB', app: maps, project })

    for (const name of names) {
      progress(`${name}: making files and events`)
      const app = APPS[name](shape)
      const [withFiles, without] = [
        await addProject(service.url, project.cookie, `${name} with files`),
        await addProject(service.url, project.cookie, `${name} without files`),
      ]
      const times: Timing[] = []
      for (const file of app.files) times.push(await upload(service, withFiles, file))
      const bytes = app.files.reduce((sum, file) => sum + sizeOf(file), 0)
      progress(`${name}: ${app.files.length} files of ${(bytes / 1e6 / app.files.length).toFixed(1)} MB ready`)
      const largest = app.files.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]
      const kind = KINDS[name]
      if (largest !== undefined && kind !== null)
        Object.assign(
          figures,
          await indexAlone(`${name}, file of ${(sizeOf(largest) / 1e6).toFixed()} MB`, largest, kind, scratch),
        )
      const compared = await comparePairs(
        service,
        app,
        { withFiles, without },
        { pairs, seconds, progress: (line) => progress(`${name}: ${line}`) },
      )
      Object.assign(figures, figuresOfPairs(name, app, compared))
      notes.push(
        `${name}: ${describe(app.events)}; ${app.framesPerEvent.toFixed(1)} frames of the app each; ${compared
          .map((pair) => `${rate(pair.withFiles)} / ${rate(pair.without)}`)
          .join(', ')} events/s with / without files`,
      )
      looked.push({ name, app, project: withFiles })
    }
    if (options['large'] === 'true') Object.assign(figures, await measureLargeFile(service, project, scratch, progress))
    await service.stop()
    await onDatabase(dataDir, async (app) => {
      for (const { name, app: made, project: owner } of looked) {
        progress(`${name}: look-ups`)
        Object.assign(figures, await measureLookUps(app, name, made, owner))
      }
    })
  } catch (error) {
    process.stderr.write(service.output().slice(-4_000))
    throw error
  } finally {
    await service.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
  return {
    figures,
    durability: 'fsync and synchronous_commit on',
    postgres: embeddedPostgresVersion(),
    notes: [
      ...notes,
      `${pairs} pairs of ${seconds} s after warm-up, each with the order of the one before turned round; ratios are medians of pairs`,
      'look-ups: the same events in one thread on the database of the run, with its caches warm; processor time',
      'the debug files are made up and have no location lists; other readers of DWARF accept them',
    ],
  }
}

const isAppName = (name: string): name is AppName => Object.hasOwn(APPS, name)
const KINDS: Readonly<Record<AppName, SymbolKind | null>> = {
  web: null,
  'react-native': 'js_source_map',
  android: 'proguard',
  ios: 'macho',
}
const sizeOf = ({ pieces }: AppFile): number => pieces.reduce((sum, { length }) => sum + length, 0)

type Timing = { readonly uploadMs: number; readonly indexMs: number }

const Listed = z.object({ items: z.array(z.object({ state: z.string(), problem: z.string().nullable() })) })

/** Uploads a file through the product API, and waits until it is indexed. */
async function upload(
  { url }: Service,
  { projectId, cookie }: BenchProject,
  {
    path,
    filename,
    fields,
    debugId,
    pieces,
  }: Omit<AppFile, 'pieces'> & { readonly pieces: readonly (Buffer | Blob)[] },
): Promise<Timing> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append(
    'file',
    new Blob(pieces.map((piece) => (piece instanceof Blob ? piece : new Uint8Array(piece)))),
    filename,
  )
  const address = `${url}/api/projects/${projectId}/${path}`
  const startedMs = performance.now()
  const answer = await fetch(address, { method: 'POST', headers: { cookie, origin: url }, body: form })
  if (answer.status !== 201) throw new Error(`${address} answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
  const acceptedMs = performance.now()
  for (;;) {
    const list = Listed.parse(await (await fetch(`${address}?debug_id=${debugId}`, { headers: { cookie } })).json())
    const state = list.items[0]?.state
    if (state === 'ready') return { uploadMs: acceptedMs - startedMs, indexMs: performance.now() - acceptedMs }
    if (state !== 'indexing') throw new Error(`${filename} was not indexed: ${list.items[0]?.problem ?? 'it is gone'}`)
    await delay(20)
  }
}

const Alone = z.object({ wallMs: z.number(), cpuMs: z.number(), memoryMiB: z.number() })

/** Processor time and memory of building an index: a process has its own, a thread of the service shares it. */
async function indexAlone(label: string, file: AppFile, kind: SymbolKind, scratch: string): Promise<Figures> {
  const path = join(scratch, 'alone')
  await writeFile(path, file.pieces)
  const { cpuMs, memoryMiB } = await indexFileAlone(path, kind)
  return {
    [`${label}: index, processor time`]: { value: cpuMs, unit: 'ms' },
    [`${label}: index, memory of a process`]: { value: memoryMiB, unit: 'MiB' },
  }
}

async function indexFileAlone(path: string, kind: SymbolKind): Promise<z.infer<typeof Alone>> {
  const script = join(import.meta.dirname, 'symbol-files', 'index-alone.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, path, kind])
  return Alone.parse(JSON.parse(stdout))
}

type Pair = { readonly withFiles: Fed; readonly without: Fed }

/** Sends the same events to a project with files and to one without, in turns. */
async function comparePairs(
  service: Service,
  { events }: SymbolApp,
  projects: { readonly withFiles: BenchProject; readonly without: BenchProject },
  { pairs, seconds, progress }: { readonly pairs: number; readonly seconds: number; readonly progress: Progress },
): Promise<Pair[]> {
  const feed = async (key: keyof Pair, durationMs: number): Promise<Fed> => {
    const fed = await feedAndWatch(service, projects[key], { events }, durationMs)
    await waitUntilDrained(service)
    return fed
  }
  await feed('withFiles', WARM_UP_MS)
  await feed('without', WARM_UP_MS)
  const measured: Pair[] = []
  for (let n = 0; n < pairs; n++) {
    const first = n % 2 === 0 ? 'without' : 'withFiles'
    const one = await feed(first, seconds * 1000)
    const other = await feed(first === 'without' ? 'withFiles' : 'without', seconds * 1000)
    const pair = first === 'without' ? { without: one, withFiles: other } : { withFiles: one, without: other }
    progress(`pair ${n + 1} of ${pairs}: ${rate(pair.withFiles)} events/s with files, ${rate(pair.without)} without`)
    measured.push(pair)
  }
  return measured
}

const rate = (fed: Fed): string => drainedPerSecond(fed).toLocaleString('en', { maximumFractionDigits: 0 })

function figuresOfPairs(name: string, { framesPerEvent }: SymbolApp, pairs: readonly Pair[]): Figures {
  const of = (value: (pair: Pair) => number): number => median(pairs.map(value))
  const thread = (fed: Fed): number => processorPerEvent(fed, ({ processor }) => processor['digest thread'])
  const all = (fed: Fed): number => processorPerEvent(fed, serviceMs)
  return {
    [`${name}: drained without files`]: { value: of(({ without }) => drainedPerSecond(without)), unit: 'events/s' },
    [`${name}: drained with files`]: { value: of(({ withFiles }) => drainedPerSecond(withFiles)), unit: 'events/s' },
    [`${name}: ratio of rates`]: {
      value: of(({ withFiles, without }) => drainedPerSecond(withFiles) / drainedPerSecond(without)),
      unit: '',
      goal: '≥0.70',
    },
    [`${name}: ratio of processor time, all`]: {
      value: of(({ withFiles, without }) => all(without) / all(withFiles)),
      unit: '',
    },
    [`${name}: ratio of it, digest thread`]: {
      value: of(({ withFiles, without }) => thread(without) / thread(withFiles)),
      unit: '',
    },
    [`${name}: digest thread without files`]: { value: of(({ without }) => thread(without)), unit: 'µs/event' },
    [`${name}: digest thread with files`]: { value: of(({ withFiles }) => thread(withFiles)), unit: 'µs/event' },
    [`${name}: frames made readable`]: {
      value: of(({ withFiles }) => drainedPerSecond(withFiles)) * framesPerEvent,
      unit: 'frames/s',
      ...(name === 'react-native' ? { goal: '≥1,000' } : {}),
    },
  }
}

/** A debug file of 500 MB through the API, and alone. */
async function measureLargeFile(
  service: Service,
  project: BenchProject,
  scratch: string,
  progress: Progress,
): Promise<Figures> {
  const path = join(scratch, 'large')
  const debugId = 'a5a5a5a5-0000-4000-8000-00000000c0de'
  progress('making a debug file of 500 MB')
  await writeFile(path, makeDebugFile(LARGE_FILE_BYTES, 1, Buffer.from(debugId.replaceAll('-', ''), 'hex')).pieces)
  progress('indexing it alone')
  const alone = await indexFileAlone(path, 'macho')
  progress('uploading it')
  const beforeMiB = memoryOfService(service)
  let peakMiB = beforeMiB
  const timer = setInterval(() => (peakMiB = Math.max(peakMiB, memoryOfService(service))), 250)
  try {
    const pieces = [await openAsBlob(path)]
    const { uploadMs, indexMs } = await upload(service, project, {
      path: 'dsyms',
      filename: 'Large',
      fields: {},
      debugId,
      pieces,
    })
    return {
      'debug file of 500 MB: size': { value: statSync(path).size / 1e6, unit: 'MB' },
      'debug file of 500 MB: accepted after': { value: uploadMs, unit: 'ms' },
      'debug file of 500 MB: accepted → ready': { value: indexMs, unit: 'ms', goal: '≤60,000 ms' },
      'debug file of 500 MB: service grew by': { value: peakMiB - beforeMiB, unit: 'MiB', goal: '≤512 MiB' },
      'debug file of 500 MB: index alone, wall time': { value: alone.wallMs, unit: 'ms' },
      'debug file of 500 MB: index alone, processor time': { value: alone.cpuMs, unit: 'ms' },
      'debug file of 500 MB: index alone, memory': { value: alone.memoryMiB, unit: 'MiB', goal: '≤512 MiB' },
    }
  } finally {
    clearInterval(timer)
  }
}

/** Memory of the service without its database. */
const memoryOfService = ({ pid }: Service): number =>
  memoryOfTree(pid)
    .filter(({ command }) => !command.includes('postgres'))
    .reduce((sum, { pssMiB }) => sum + pssMiB, 0)

const STEADY_ROUNDS = 5

/** Makes the events readable in this thread: first with cold caches, then with warm ones, as digestion and as pages do. */
async function measureLookUps(
  app: App,
  name: string,
  { events }: SymbolApp,
  { projectId }: BenchProject,
): Promise<Figures> {
  const { rows } = await app.db.query<{ org_id: string }>('select org_id from projects where id = $1', [projectId])
  const project = { orgId: rows[0]?.org_id ?? '', projectId }
  const digest = symbolicateFor(app, project, isGroupedByLine)
  const decisive = events.map(({ json }) => normalised(json, true))
  const whole = events.map(({ json }) => normalised(json, false))
  const frames = decisive.reduce((sum, event) => sum + framesIn(event).filter(({ in_app: isOwn }) => isOwn).length, 0)
  const round = async (list: readonly Event[], read: (event: Event) => Promise<Event> | null): Promise<number> => {
    const startedMs = threadCpuMs()
    for (const event of list) await read(event)
    return ((threadCpuMs() - startedMs) * 1000) / frames
  }
  const steady = async (list: readonly Event[], read: (event: Event) => Promise<Event> | null): Promise<number> => {
    const rounds: number[] = []
    for (let n = 0; n < STEADY_ROUNDS; n++) rounds.push(await round(list, read))
    return median(rounds)
  }
  const cold = await round(decisive, digest)
  const warm = await steady(decisive, digest)
  const display = (event: Event): Promise<Event> => makeReadable(app, project, event)
  const shown = await steady(whole, display)
  let readable = 0
  for (const event of whole)
    readable += framesIn(await display(event)).filter(
      ({ raw, is_inlined: isInlined }) => raw !== undefined && isInlined !== true,
    ).length
  const unit = 'µs/frame'
  const goal = name === 'map of 20 MB' ? { goal: '≤50 µs (P14)' } : {}
  return {
    [`${name}: look-up in digestion, steady`]: { value: warm, unit, ...goal },
    [`${name}: the same with cold caches`]: { value: cold, unit },
    [`${name}: look-up for a page, steady`]: { value: shown, unit, ...goal },
    [`${name}: frames that became readable`]: { value: (readable / frames) * 100, unit: '%', goal: '100 %' },
  }
}

const framesIn = ({ exceptions, threads }: Event) =>
  [...exceptions, ...threads].flatMap(({ stacktrace }) => stacktrace?.frames ?? [])

function normalised(json: Buffer, onlyDecisive: boolean): Event {
  const value: unknown = JSON.parse(json.toString())
  if (!isRecord(value)) throw new Error('an event is no object')
  const at = new Date()
  return normalizeEvent(value, {
    eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
    receivedAt: at,
    sentAt: at,
    clientIp: null,
    userAgent: null,
    onlyDecisive,
  })
}
