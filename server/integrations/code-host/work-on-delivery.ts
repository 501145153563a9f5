import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { AppError, unavailable } from '../../platform/kernel/errors.ts'
import { inThread } from '../../platform/kernel/thread-task.ts'
import { addJob, defineTask } from '../../platform/jobs/task.ts'
import { selectProjectOfIssue } from '../../projects/registry/projects.queries.ts'
import { MAX_DELIVERY_BYTES } from './code-host.api.ts'
import { type CodeHostRow, selectCodeHost, selectDelivery, settleDelivery } from './code-hosts.queries.ts'
import { putTag } from './commits.queries.ts'
import { HostError } from './host-client.ts'
import type { HostClient, HostEvent, IssueEvent, ReleaseEvent } from './vendor.ts'
import { DELIVERY_JOB, HOST_ISSUE_JOB, oneByOne } from './job-names.ts'
import { wantReleases } from './link-releases-job.ts'
import { noteProblem } from './note-problem.ts'
import { openClient } from './open-client.ts'
import { type PackedDelivery, readDelivery } from './read-delivery.ts'
import { recordPull } from './record-pull.ts'
import { recordPush, type Settled } from './record-push.ts'
import { findVendor } from './vendors.ts'

const unpack = promisify(gunzip)

/** Larger payloads are parsed in a thread: a MiB takes about ten milliseconds. */
const MAX_PARSED_HERE = 1024 * 1024
const CPU_LIMIT_MS = 20_000

/** Does what a delivery asks for. A delivery of a connection that is gone, or one that is done, is left alone. */
async function workOnDelivery(
  app: App,
  { projectId, deliveryId }: { readonly projectId: string; readonly deliveryId: string },
  signal: AbortSignal,
): Promise<void> {
  const [host, delivery, project] = await Promise.all([
    selectCodeHost(app.db, projectId),
    selectDelivery(app.db, projectId, deliveryId),
    selectProjectOfIssue(app.db, projectId),
  ])
  if (host === undefined || project === undefined || delivery?.body == null || delivery.state !== 'waiting') return
  const settle = (state: 'done' | 'failed', summary: string) =>
    settleDelivery(
      app.db,
      { projectId, deliveryId },
      { state, summary: summary.replaceAll('\0', '').slice(0, 200).toWellFormed() },
    )
  const client = await openClient(app, host, signal)
  const work = async (using: HostClient | null): Promise<void> => {
    const event = await parse(host, { event: delivery.event, body: await bodyOf(delivery.body) })
    await settle('done', await record(app, { host, delivery, slug: project.slug, client: using }, event))
  }
  try {
    await work(client)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return settle('failed', error.message)
    if (!(error instanceof HostError)) throw error
    await noteProblem(app, host, error)
    if (error.kind === 'refused') return work(null)
    if (error.until === null) throw error
    await addJob(app.db, DELIVERY_JOB, { projectId, deliveryId }, { ...oneByOne(projectId), runAt: error.until })
  }
}

async function bodyOf(packed: Buffer | null): Promise<Buffer> {
  return unpack(packed ?? Buffer.alloc(0), { maxOutputLength: MAX_DELIVERY_BYTES })
}

/** @throws AppError invalid, rate_limited (threads are busy), unavailable */
async function parse(host: CodeHostRow, { event, body }: Omit<PackedDelivery, 'provider'>): Promise<HostEvent> {
  const packed = { provider: host.provider, event, body }
  if (body.byteLength <= MAX_PARSED_HERE) return readDelivery(packed)
  const limits = { cpuLimitMs: CPU_LIMIT_MS, onLimit: () => unavailable('The payload takes too long to read.') }
  return inThread<PackedDelivery, HostEvent, HostEvent>(
    host.org_id,
    new URL('./read-delivery-thread.ts', import.meta.url),
    limits,
    (ask) => ask(packed),
  )
}

async function record(app: App, settled: Settled, event: HostEvent): Promise<string> {
  switch (event.kind) {
    case 'push':
      return recordPush(app, settled, event)
    case 'pull':
      return recordPull(app, settled, event)
    case 'release':
      return recordRelease(app, settled, event)
    case 'issue':
      return recordIssue(app, settled, event)
    case 'ping':
    case 'other':
      return 'nothing to do'
  }
}

/** The tag of a release means a commit, and by its name a release of the project. */
async function recordRelease(app: App, { host, client }: Settled, { tag, sha, at }: ReleaseEvent): Promise<string> {
  const commit = sha ?? (client === null ? null : await findVendor(host.provider).readCommitId(client, tag))
  await app.tx(async (tx) => {
    if (commit !== null)
      await putTag(tx, { project_id: host.project_id, tag: tag.slice(0, 200), sha: commit, tagged_at: at })
    await wantReleases(tx, host.project_id)
  })
  return `release ${tag}`
}

/** Changes of one issue that wait are one job: its state is read from the code host. */
async function recordIssue(app: App, { host }: Settled, { number }: IssueEvent): Promise<string> {
  const { project_id: projectId } = host
  await addJob(app.db, HOST_ISSUE_JOB, { projectId, number }, { key: `${HOST_ISSUE_JOB}/${projectId}/${number}` })
  return `issue #${number}`
}

export const codeHostDeliveryTask = defineTask({
  name: DELIVERY_JOB,
  payload: z.object({ projectId: z.uuid(), deliveryId: z.string() }),
  run: workOnDelivery,
})
