import { zstdCompressSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { FEEDBACK_ROWS, insertFeedback } from '../../issues/feedback/feedback.queries.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions, partitionDays } from '../../platform/storage/day-partitions.ts'
import { packContent } from '../../platform/blobs/pack-content.ts'
import {
  attachmentKey,
  deleteEventAttachments,
  findStoredAttachments,
  insertAttachments,
  readPieceOfFile,
  type ReceivedAttachment,
  selectAttachment,
  selectAttachments,
} from './attachments.queries.ts'
import { purgeAttachments } from './purge-attachments.ts'
import { purgeRetained } from '../../projects/registry/project-rows.ts'

const { app, clock } = await testApp()
const [aLine, anotherLine] = [await packContent(Buffer.from('line\n')), await packContent(Buffer.from('other'))]
const today = utcDay(clock.now())
const [short, long] = [newId(), newId()]

const org = newId()

beforeAll(async () => {
  await app.db.query(
    `insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, 'o', 'O', 'x', now())`,
    [org],
  )
  for (const [index, [id, days]] of [[short, 7] as const, [long, 30] as const].entries())
    await app.db.query(
      `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', $4, now())`,
      [id, org, `p${index}`, JSON.stringify({ retention_days: days })],
    )
})

const fileOf = (projectId: string, daysAgo: number, over: object = {}): ReceivedAttachment => ({
  orgId: org,
  projectId,
  receivedAt: new Date(`${dayPlus(today, -daysAgo)}T12:00:00Z`),
  attachment: {
    eventId: newEventId(),
    filename: 'a.log',
    contentType: 'text/plain',
    attachmentType: 'event.attachment',
    content: aLine,
    ...over,
  },
})

async function insert(files: readonly ReceivedAttachment[]): Promise<void> {
  for (const { receivedAt } of files) await ensureDayPartitions(app.db, [{ table: 'attachments' }], utcDay(receivedAt))
  await app.tx((tx) => insertAttachments(tx, files))
}

const counts = async () =>
  (
    await app.db.query<{ project_id: string; files: number; uses: number }>(
      `select a.project_id, count(distinct a.id)::int as files, count(u.*)::int as uses
       from attachments a left join blob_uses u on u.holder_id = a.id group by 1`,
    )
  ).rows

test('files are deleted after the retention of their project, days after the longest retention', async () => {
  await insert([
    fileOf(short, 0),
    fileOf(short, 7),
    fileOf(short, 8),
    fileOf(long, 8),
    fileOf(long, 30),
    fileOf(long, 31),
  ])
  expect(await purgeAttachments(app)).toMatchObject({ files: 2 })
  expect(await counts()).toEqual(
    expect.arrayContaining([
      { project_id: short, files: 2, uses: 2 },
      { project_id: long, files: 2, uses: 2 },
    ]),
  )
  expect((await partitionDays(app.db, 'attachments')).at(-1)).toBe(dayPlus(today, -30))
  const { rows } = await app.db.query<{ uses: number; blobs: number }>(
    'select (select count(*) from blob_uses)::int as uses, (select count(*) from blobs)::int as blobs',
  )
  expect(rows).toEqual([{ uses: 4, blobs: 1 }])
  expect(await purgeAttachments(app)).toEqual({ files: 0, days: 0 })
})

test('a file of an earlier release stays readable until it is purged', async () => {
  const [id, eventId] = [newId(), newId()]
  const day = dayPlus(today, -8)
  await ensureDayPartitions(app.db, [{ table: 'attachments' }, { table: 'attachment_chunks' }], day)
  await app.db.query(
    `insert into attachments values ($1, $2, $3, $4, $1::date, 'a', 'text/plain', 'event.attachment', 5, '\\x00')`,
    [day, id, long, eventId],
  )
  await app.db.query('insert into attachment_chunks values ($1, $2, 0, 4, $3)', [day, id, zstdCompressSync('line\n')])
  const file = await selectAttachment(app.db, long, id)
  if (file === undefined) throw new Error('no file')
  expect((await readPieceOfFile(app.db, file, 0))?.toString()).toBe('line\n')
  expect(await app.tx((tx) => deleteEventAttachments(tx, long, [unhyphenate(eventId)]))).toBe(1)
  expect(await readPieceOfFile(app.db, file, 0)).toBeNull()
})

test('contents of files that were deleted by a program without blobs are deleted with their day', async () => {
  const file = fileOf(long, 31, { content: await packContent(Buffer.from('left over')) })
  await insert([file])
  await app.db.query('delete from attachments where project_id = $1 and received_day = $2', [
    long,
    utcDay(file.receivedAt),
  ])
  const blobs = async () =>
    (await app.db.query('select from blobs where sha256 = $1', [file.attachment.content.sha256])).rowCount
  expect(await blobs()).toBe(1)
  expect(await purgeAttachments(app)).toEqual({ files: 0, days: 1 })
  expect(await blobs()).toBe(0)
})

test('a resent file is recognised for seven days, and only the same file of the same event', async () => {
  const file = fileOf(long, 1)
  await insert([file])
  const find = async (one: ReceivedAttachment, day = today) =>
    app.tx(async (tx) => (await findStoredAttachments(tx, [one], day)).has(attachmentKey(one)))
  const { attachment } = file
  expect(await find(file)).toBe(true)
  expect(await find(file, dayPlus(today, 7))).toBe(false)
  expect(await find({ ...file, projectId: short })).toBe(false)
  expect(await find({ ...file, attachment: { ...attachment, filename: 'b.log' } })).toBe(false)
  expect(await find({ ...file, attachment: { ...attachment, attachmentType: 'unreal.logs' } })).toBe(false)
  expect(await find({ ...file, attachment: { ...attachment, content: anotherLine } })).toBe(false)
  expect(await find({ ...file, attachment: { ...attachment, eventId: newEventId() } })).toBe(false)
})

test('deleting files of events keeps those of others, also of another project with the same event', async () => {
  const eventId = newEventId()
  await insert([fileOf(long, 0, { eventId }), fileOf(short, 0, { eventId }), fileOf(long, 0)])
  expect(await app.tx((tx) => deleteEventAttachments(tx, long, [eventId, newEventId()]))).toBe(1)
  expect(await app.tx((tx) => deleteEventAttachments(tx, long, [eventId]))).toBe(0)
  expect(await app.tx((tx) => deleteEventAttachments(tx, long, []))).toBe(0)
  const { rows } = await app.db.query<{ project_id: string }>(
    'select project_id from attachments where event_id = $1',
    [eventId],
  )
  expect(rows).toEqual([{ project_id: short }])
  const [left] = await selectAttachments(app.db, short, [eventId])
  const file = await selectAttachment(app.db, short, left?.id ?? '')
  if (file === undefined) throw new Error('no file')
  expect((await readPieceOfFile(app.db, file, 0))?.toString()).toBe('line\n')
})

test('feedback is deleted after the retention of its project', async () => {
  const feedback = (projectId: string, daysAgo: number) => ({
    projectId,
    receivedAt: new Date(clock.now().getTime() - daysAgo * 86_400_000),
    issueId: null,
    feedback: {
      feedbackId: newEventId(),
      eventId: null,
      message: 'm',
      name: null,
      email: null,
      url: null,
      source: null,
      replayId: null,
      release: null,
      environment: null,
      userHash: null,
      context: null,
    },
  })
  const rows = [feedback(short, 6), feedback(short, 8), feedback(long, 8), feedback(long, 31)]
  await app.tx((tx) => insertFeedback(tx, rows))
  expect(await purgeRetained(app, FEEDBACK_ROWS, 'received_at', undefined)).toBe(2)
  expect(await purgeRetained(app, FEEDBACK_ROWS, 'received_at', undefined)).toBe(0)
})
