import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runJobs } from '#server/platform/jobs/run-jobs.ts'
import type { App } from '#server/platform/context/app.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { childrenOf, send } from '#test/kit/processes.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { deleteFiles, SYMBOL_PART } from '../files/symbol-files.queries.ts'
import { keepSymbols } from '../upload-protocol/keep-symbols.ts'
import { storeFiles, unnamedFile } from '../uploads/store-files.ts'
import { indexSymbolsTask, indexWaitingFiles } from './index-file-task.ts'
import { Indexer, IndexerEndedError } from './indexer.ts'

const { app, connectionString, dataDir, logLines } = await testApp()
const never = new AbortController().signal

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-indexing-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const aMap = (name: string, segments = 1): string =>
  `{"version":3,"sources":["${name}.ts"],"names":[],"mappings":"AAAA${',CAAA'.repeat(segments)}"}`

async function aProject(): Promise<{ readonly owner: Person; readonly projectId: string }> {
  const owner = await aPerson(app)
  return { owner, projectId: await insertProject(app, owner) }
}

async function store({ owner, projectId }: { owner: Person; projectId: string }, content: string, release = 'w@1') {
  const path = join(aFolder(), 'file')
  writeFileSync(path, content)
  const names = { ...unnamedFile('js_source_map', 'app.js.map'), release, url: '~/app.js' }
  const { files, areKnown } = await storeFiles(app, owner.actor, projectId, path, [names])
  return { id: files[0]?.id ?? '', areKnown }
}

type State = { state: string; problem: string | null; attempts: number }
const stateOf = async (id: string): Promise<State | undefined> =>
  (await app.db.query<State>('select state, problem, attempts from symbol_files where id = $1', [id])).rows[0]
const countOf = async (table: string): Promise<number> =>
  (await app.db.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n ?? -1
const leftInScratch = (): string[] => readdirSync(join(dataDir, 'uploads'))

/** Processes that this one starts from now on. Each needs some hundred milliseconds before it reads a file. */
function newProcesses(): () => number[] {
  const before = childrenOf(process.pid)
  return () => childrenOf(process.pid).filter((pid) => !before.includes(pid))
}

describe('the process that builds indexes', () => {
  const build = async (limits: { heapMb: number; memoryMb: number }, content: string, cpuSeconds = 60) => {
    const indexer = new Indexer(limits)
    onTestFinished(() => indexer.close())
    const path = join(aFolder(), 'file')
    writeFileSync(path, content)
    const work = { path, kind: 'js_source_map' as const, object: 0, cpuSeconds }
    const first = await indexer.build(work, never)
    writeFileSync(path, aMap('small'))
    return [first, await indexer.build({ ...work, cpuSeconds: 60 }, never)]
  }
  const ready = { packed: { lengths: [expect.any(Number), expect.any(Number)] } }

  test.each([
    ['more heap', { heapMb: 24, memoryMb: 1_024 }, 60, 'Indexing needs more than 24 MiB of memory.'],
    ['more memory', { heapMb: 512, memoryMb: 20 }, 60, 'Indexing needs more than 20 MiB of memory.'],
    ['more time', { heapMb: 512, memoryMb: 1_024 }, 0.1, 'Indexing takes more than 0.1 s of processor time.'],
  ])(
    'ends when a file needs %s than it may, and the next file has another one',
    async (_, limits, seconds, problem) => {
      // Many sources take heap, many segments time.
      const sources = `${'"s.ts",'.repeat(400_000)}"s.ts"`
      const map = aMap('s', 300_000).replace('"s.ts"', sources)
      const [first, second] = await build(limits, map, seconds)
      expect(first).toEqual({ problem, isLast: true })
      expect(second).toMatchObject(limits.memoryMb === 20 ? { problem } : ready)
    },
  )

  test('is the same for several files, and ends with the indexer', async () => {
    const indexer = new Indexer()
    const path = join(aFolder(), 'file')
    const own = newProcesses()
    for (const content of [aMap('a'), '<html>', aMap('b')]) {
      writeFileSync(path, content)
      const reply = await indexer.build({ path, kind: 'js_source_map', object: 0, cpuSeconds: 60 }, never)
      expect(reply).toMatchObject(content === '<html>' ? { problem: expect.stringContaining('HTML') as string } : ready)
      expect(own()).toHaveLength(1)
    }
    indexer.close()
    await waitFor('the process to end', () => own().length === 0)
  })

  test('that is killed is said to have ended, and a stop of the service ends it', async () => {
    const indexer = new Indexer()
    onTestFinished(() => indexer.close())
    const path = join(aFolder(), 'file')
    writeFileSync(path, aMap('a'))
    const own = newProcesses()
    const work = { path, kind: 'js_source_map' as const, object: 0, cpuSeconds: 60 }
    const killed = indexer.build(work, never)
    for (const pid of await waitFor('the process', () => own().length > 0 && own())) send(pid, 'SIGKILL')
    await expect(killed).rejects.toThrow(IndexerEndedError)
    const stopping = new AbortController()
    const stopped = indexer.build(work, stopping.signal)
    stopping.abort(new Error('the service stops'))
    await expect(stopped).rejects.toThrow('the service stops')
    await waitFor('the process to end', () => own().length === 0)
  })
})

describe('a file', () => {
  test('whose indexing ends the process three times is given up with a reason, and tried again when it is uploaded again', async () => {
    const project = await aProject()
    const { id } = await store(project, aMap('poison'))
    const own = newProcesses()
    for (let attempt = 1; attempt <= 3; attempt++) {
      let isOver = false
      const run = indexWaitingFiles(app, project.owner.actor.orgId, never).finally(() => (isOver = true))
      const ended = expect(run).rejects.toThrow(IndexerEndedError)
      // One that ends before it has the file is replaced.
      await waitFor('the end of the process', () => {
        for (const pid of own()) send(pid, 'SIGKILL')
        return isOver
      })
      await ended
      expect(await stateOf(id)).toMatchObject({ state: 'indexing', attempts: attempt })
    }
    await indexWaitingFiles(app, project.owner.actor.orgId, never)
    expect(await stateOf(id)).toMatchObject({ state: 'failed', problem: 'Indexing ended 3 times before it was done.' })
    expect(await store(project, aMap('poison'))).toEqual({ id, areKnown: true })
    expect(await stateOf(id)).toEqual({ state: 'indexing', problem: null, attempts: 0 })
    await indexWaitingFiles(app, project.owner.actor.orgId, never)
    expect(await stateOf(id)).toMatchObject({ state: 'ready', problem: null })
    expect(leftInScratch()).toEqual([])
  })

  test('is not blamed for a stop of the service', async () => {
    const project = await aProject()
    const { id } = await store(project, aMap('stopped'))
    const stopping = new AbortController()
    const run = indexWaitingFiles(app, project.owner.actor.orgId, stopping.signal)
    await waitFor('indexing to begin', async () => (await stateOf(id))?.attempts === 1)
    stopping.abort(new Error('the service stops'))
    await expect(run).rejects.toThrow('the service stops')
    expect(await stateOf(id)).toMatchObject({ state: 'indexing', attempts: 0 })
  })

  test.each(['file', 'project'])(
    'that is deleted with its %s while it is indexed leaves nothing behind',
    async (what) => {
      const project = await aProject()
      const { id } = await store(project, aMap(`deleted ${what}`))
      const before = { indexes: await countOf('symbol_indexes'), blobs: await countOf('blobs') }
      const run = indexWaitingFiles(app, project.owner.actor.orgId, never)
      await waitFor('indexing to begin', async () => (await stateOf(id))?.attempts === 1)
      await app.tx((tx) =>
        what === 'file' ? deleteFiles(tx, [id]) : SYMBOL_PART.deleteRows(tx, project.projectId, 10),
      )
      await run
      expect(await stateOf(id)).toBeUndefined()
      expect(await countOf('symbol_indexes')).toBe(before.indexes)
      expect(await countOf('blobs')).toBe(before.blobs - 1)
      expect(leftInScratch()).toEqual([])
    },
  )

  test('that waits without a job gets one', async () => {
    const project = await aProject()
    const { id } = await store(project, aMap('forgotten'))
    await app.db.query(`delete from graphile_worker._private_jobs`)
    await keepSymbols(app)
    const runner = runJobs(app, connectionString, [indexSymbolsTask])
    await waitFor('the file to be indexed', async () => (await stateOf(id))?.state === 'ready')
    await runner.stop()
  })
})

test('organisations take turns: who uploads one file does not wait for another one’s many', async () => {
  await app.db.query(`delete from symbol_files`)
  const [busy, other] = [await aProject(), await aProject()]
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await store(busy, aMap(`busy${n}`), `w@${n}`)).id)
  const { id } = await store(other, aMap('other'))
  // Each file takes longer than a turn.
  let ms = 0
  const slowly: App = { ...app, clock: { ...app.clock, monotonicMs: () => (ms += 6_000) } }
  const from = logLines.length
  const runner = runJobs(slowly, connectionString, [indexSymbolsTask])
  const indexed = (): unknown[] =>
    logLines.slice(from).flatMap((line) => (line['msg'] === 'symbols.indexed' ? line['file_id'] : []))
  await waitFor('all files', () => indexed().length === 4)
  await runner.stop()
  expect(indexed()).toEqual([ids[0], id, ...ids.slice(1)])
})
