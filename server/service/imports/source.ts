import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { EgressError } from '../../platform/context/egress.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/**
 * A service with the web API of Sentry: https://docs.sentry.io/api/. GlitchTip answers the same for what is read here.
 * Pages follow the header `Link`.
 */
export type Source = {
  readonly url: string
  readonly org: string
  readonly token: string
}

/** `refused`: the token; `missing`: the thing does not exist there; `wait`: ask again later; `invalid`: another service. */
export type SourceErrorKind = 'refused' | 'missing' | 'wait' | 'invalid'

/** Why the source gave no answer. The message is a sentence for the member. */
export class SourceError extends Error {
  readonly kind: SourceErrorKind
  /** When to ask again, at the earliest. */
  readonly waitMs: number

  constructor(kind: SourceErrorKind, message: string, waitMs = 0, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
    this.waitMs = waitMs
  }
}

/** For a list that the source refuses or does not have. @throws any other error */
export function nullWhenUnreadable(error: unknown): null {
  if (error instanceof SourceError && (error.kind === 'refused' || error.kind === 'missing')) return null
  throw error
}

export type SourcePage<T> = {
  readonly items: readonly T[]
  readonly next: string | null
  /** Null when the source does not say. */
  readonly total: number | null
}

const MAX_BODY_BYTES = 32 * 1024 * 1024
const TIMEOUT_MS = 30_000
const MIN_WAIT_MS = 1_000
const MAX_WAIT_MS = 15 * 60_000

/** Reads one page of a list; an item that does not parse is left out. */
export async function readList<T>(
  app: App,
  source: Source,
  path: string,
  schema: z.ZodType<T>,
  cursor: string | null = null,
): Promise<SourcePage<T>> {
  const { json, headers } = await get(app, source, cursor === null ? path : withCursor(path, cursor))
  const list = z.array(z.unknown()).safeParse(json)
  if (!list.success) throw new SourceError('invalid', `${source.url} did not answer with a list of ${path}.`)
  const hits = Number(headers.get('x-hits') ?? Number.NaN)
  const max = Number(headers.get('x-max-hits') ?? Number.NaN)
  return {
    items: list.data.flatMap((item) => {
      const parsed = schema.safeParse(item)
      return parsed.success ? [parsed.data] : []
    }),
    next: nextCursor(headers.get('link')),
    total: Number.isSafeInteger(hits) && !(hits >= max) ? hits : null,
  }
}

/** All pages of a short list. @param max of items */
export async function readAll<T>(
  app: App,
  source: Source,
  path: string,
  schema: z.ZodType<T>,
  max: number,
): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page: SourcePage<T> = await readList(app, source, path, schema, cursor)
    items.push(...page.items)
    cursor = page.next
  } while (cursor !== null && items.length < max)
  return items.slice(0, max)
}

const withCursor = (path: string, cursor: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`

/** `<https://…?cursor=1:100:0>; rel="next"; results="true"; cursor="1:100:0"`, among others. */
export function nextCursor(link: string | undefined): string | null {
  for (const part of link?.split(',') ?? []) {
    if (!/rel="?next"?/.test(part)) continue
    const hasResults = /results="?(\w+)"?/.exec(part)?.[1] ?? 'true'
    const cursor = /[;\s]cursor="([^"]*)"/.exec(part)?.[1] ?? /[?&]cursor=([^&>]*)/.exec(part)?.[1]
    if (hasResults === 'true' && cursor !== undefined) return decodeURIComponent(cursor)
  }
  return null
}

async function get(
  app: App,
  { url, token }: Source,
  path: string,
): Promise<{ readonly json: unknown; readonly headers: ReadonlyMap<string, string> }> {
  const host = new URL(url).host
  const response = await app.egress
    .request({
      url: url + path,
      method: 'GET',
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_BODY_BYTES,
      group: `import ${url}`,
    })
    .catch((error: unknown) => {
      if (!(error instanceof EgressError)) throw error
      if (error.kind === 'refused') throw new SourceError('invalid', `${host}: ${error.message}`, 0, error)
      throw new SourceError('wait', `${host} does not answer: ${error.message}.`, MIN_WAIT_MS, error)
    })
  const headers = new Map(response.headers.map(([name, value]) => [name.toLowerCase(), value]))
  const { status } = response
  if (status === 401 || status === 403)
    throw new SourceError('refused', `${host} refused the token (${status}). It needs read access to ${scopeOf(path)}.`)
  if (status === 404) throw new SourceError('missing', `${host} has no ${path.split('?')[0] ?? path}.`)
  if (status === 429 || status >= 500)
    throw new SourceError('wait', `${host} answered ${status}.`, waitOf(headers, app.clock.now()))
  if (status !== 200) throw new SourceError('invalid', `${host} answered ${status} to ${path.split('?')[0] ?? path}.`)
  if (!response.bodyComplete) throw new SourceError('wait', `The answer of ${host} was cut off or exceeds 32 MiB.`)
  const json = readJsonText(response.body)
  if (json === undefined)
    throw new SourceError('invalid', `${host} did not answer with JSON: this is not the address of its web API.`)
  return { json, headers }
}

const scopeOf = (path: string): string =>
  path.includes('/members/') ? 'members' : path.includes('/releases/') ? 'releases' : 'projects and issues'

function waitOf(headers: ReadonlyMap<string, string>, now: Date): number {
  const after = Number(headers.get('retry-after') ?? Number.NaN)
  const reset = Number(headers.get('x-sentry-rate-limit-reset') ?? Number.NaN)
  const waitMs = Number.isFinite(after) ? after * 1_000 : Number.isFinite(reset) ? reset * 1_000 - now.getTime() : 5_000
  return Math.min(Math.max(waitMs, MIN_WAIT_MS), MAX_WAIT_MS)
}

const text = z.string().max(10_000)
const time = z.string().transform((at, context) => {
  const date = new Date(at)
  if (!Number.isNaN(date.getTime())) return date
  context.addIssue('not a time')
  return z.NEVER
})
const id = z.union([z.string(), z.number().transform(String)])
/** Counts are texts in lists of issues. */
const count = z.coerce.number().int().min(0).catch(0)

export const SourceProject = z.object({
  id,
  slug: text,
  name: text,
  platform: text.nullish().catch(null),
})
export type SourceProject = z.infer<typeof SourceProject>

export const SourceKey = z.object({
  public: text,
  isActive: z.boolean().catch(true),
  dsn: z.object({ public: text }),
})

export const SourceMember = z.object({
  email: text,
  name: text.nullish().catch(null),
  role: text.nullish().catch(null),
  orgRole: text.nullish().catch(null),
})

export const SourceRelease = z.object({
  version: text,
  dateCreated: time,
  dateReleased: time.nullish().catch(null),
  ref: text.nullish().catch(null),
  url: text.nullish().catch(null),
  commitCount: count,
})
export type SourceRelease = z.infer<typeof SourceRelease>

export const SourceCommit = z.object({
  id: text,
  message: text.nullish().catch(null),
  dateCreated: time.nullish().catch(null),
  author: z
    .object({ name: text.nullish().catch(null), email: text.nullish().catch(null) })
    .nullish()
    .catch(null),
  repository: z.object({ name: text.nullish() }).nullish().catch(null),
})

export const SourceIssue = z.object({
  id,
  shortId: text.nullish().catch(null),
  title: text,
  culprit: text.nullish().catch(null),
  level: text.nullish().catch(null),
  platform: text.nullish().catch(null),
  status: text,
  substatus: text.nullish().catch(null),
  statusDetails: z
    .object({
      inRelease: text.optional().catch(undefined),
      inNextRelease: z.boolean().optional().catch(undefined),
      ignoreUntil: time.optional().catch(undefined),
      ignoreCount: z.number().int().min(1).optional().catch(undefined),
      ignoreUserCount: z.number().int().min(1).optional().catch(undefined),
      ignoreWindow: z.number().int().min(1).optional().catch(undefined),
    })
    .catch({}),
  metadata: z.object({ type: text.optional().catch(undefined), value: text.optional().catch(undefined) }).catch({}),
  count,
  userCount: count,
  firstSeen: time,
  lastSeen: time,
  assignedTo: z
    .object({ type: text, name: text.nullish().catch(null), email: text.nullish().catch(null) })
    .nullish()
    .catch(null),
  numComments: count,
})
export type SourceIssue = z.infer<typeof SourceIssue>

export const SourceComment = z.object({
  id,
  dateCreated: time,
  data: z.object({ text: z.string() }),
  user: z
    .object({ name: text.nullish().catch(null), email: text.nullish().catch(null) })
    .nullish()
    .catch(null),
})
export type SourceComment = z.infer<typeof SourceComment>

const part = z.looseObject({ id: text.optional() })

export const SourceRule = z.object({
  id,
  name: text,
  environment: text.nullish().catch(null),
  frequency: z.number().int().min(0).nullish().catch(null),
  conditions: z.array(part).catch([]),
  filters: z.array(part).catch([]),
  actions: z.array(part).catch([]),
})
export type SourceRule = z.infer<typeof SourceRule>
