import fc from 'fast-check'
import { EVENT_LEVELS, type EventLevel } from '#server/events/protocol/event.api.ts'
import { ISSUE_STATUSES, SEVERITIES } from '#shared/issue-values.ts'
import type { Issue } from '../rules/issue.api.ts'
import { MAX_SCANNED_VALUES } from './query.ts'

/** A model of queries that checks every event of every issue: slow, short and independent of the implementation. */

export type ModelEvent = {
  readonly texts: readonly string[]
  /** Key and value, in lower case. */
  readonly facts: readonly (readonly [string, string])[]
  /** The user's id, or else the address. */
  readonly user: string
  /** Identities of the user in the event: key and value. */
  readonly identities: readonly (readonly [string, string])[]
}
export type ModelIssue = { readonly row: Issue; readonly events: readonly ModelEvent[] }
export type World = {
  readonly issues: readonly ModelIssue[]
  readonly now: number
  readonly me: { readonly id: string; readonly email: string; readonly name: string }
  readonly ben: { readonly id: string; readonly email: string; readonly name: string }
  readonly projects: readonly { readonly id: string; readonly slug: string; readonly name: string }[]
}

/** A query and a predicate of its matches; with `isGroup`, it needs parentheses to be negated. */
export type Meant = {
  readonly text: string
  readonly isGroup: boolean
  readonly holds: (issue: ModelIssue, world: World) => boolean
}

export const WORDS = [
  'checkout',
  'basket',
  'payMent',
  'onConfirm',
  'login',
  'über',
  '結帳失敗',
  'null',
  'IOError',
  'ok',
]
export const TENANTS = [
  'acme',
  'North Wind',
  '50%_off',
  '500 off',
  'a*b',
  'axb',
  'C:\\new',
  'say "hi"',
  'ÜBER',
  'x, y]',
]
export const RELEASES = ['1.2.0', '1.2.9', '1.3.0', '2.0.0-beta+7', 'app@1.2.3', '1.20.0']
export const USERS = ['7', '8', 'u9', 'Kim']
export const IPS = ['10.0.0.1', '10.0.0.12', '127.0.0.1']
export const addressesOf = (user: string): string[] => [`${user}@example.com`, `${user}.Two@example.org`]
export const DEVICES = ['SM-A125F', 'SM-G998B', 'iPhone14,2', 'Pixel 7']

const lower = (text: string): string => text.normalize('NFC').toLowerCase()

const isHan = (word: string): boolean => /\p{Script=Han}/u.test(word)

function wordsIn(text: string): string[] {
  return text
    .normalize('NFC')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)
      const between = isHan(word) ? word.split(/\p{Script=Han}+/u).filter((part) => part !== '') : []
      return [lower(word), ...between.map(lower), ...(word.length <= 3 ? [] : parts.map(lower))]
    })
}

const says = (issue: ModelIssue, word: string, whole: boolean): boolean =>
  issue.events.some((event) => {
    const texts = [...event.texts, ...event.facts.map(([, value]) => value)]
    if (isHan(word)) return texts.some((text) => lower(text).includes(lower(word)))
    return texts.flatMap(wordsIn).some((one) => (whole ? one === lower(word) : one.startsWith(lower(word))))
  })

const valuesOf = (issue: ModelIssue, key: string): string[] =>
  issue.events
    .flatMap((event) => event.facts.filter(([name]) => name === key).map(([, value]) => lower(value)))
    .flatMap((value) => (key === 'release' ? namesOf(value) : [value]))

/** A release with and without its package. */
const namesOf = (release: string): string[] => [...new Set([release, release.replace(/^.*@/, '')])]

/** Identities of the issue's users in all events of the project. */
function identitiesOf({ row, events }: ModelIssue, { issues }: World, key?: string): string[] {
  const users = new Set(events.map(({ user }) => user))
  return issues
    .filter((other) => other.row.project_id === row.project_id)
    .flatMap((other) => other.events.filter(({ user }) => users.has(user)).flatMap(({ identities }) => identities))
    .flatMap(([name, value]) => (key === undefined || name === key ? [lower(value)] : []))
}

const leaf = (text: string, holds: Meant['holds']): Meant => ({ text, isGroup: false, holds })

/** A value as a user may write it: unquoted if possible, or quoted. */
const written = (value: string): fc.Arbitrary<string> => {
  const quoted = `"${value.replaceAll(/["\\]/g, '\\$&')}"`
  return /^[\p{L}\p{N}_][\p{L}\p{N}_.@+%-]*$/u.test(value) ? fc.constantFrom(value, quoted) : fc.constant(quoted)
}

const anyCase = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    text,
    text.toLowerCase(),
    text.toUpperCase() === text.toUpperCase().normalize() ? text.toUpperCase() : text,
  )

/** `key:value`, or `key:[one, other]`: one of the values must match. */
function listed(key: string, values: readonly string[], holds: (value: string) => Meant['holds']): fc.Arbitrary<Meant> {
  const some = fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 })
  return some.chain((chosen) =>
    fc.tuple(...chosen.map((value) => anyCase(value).chain(written))).map((texts) => {
      const text = texts.length === 1 ? `${key}:${texts[0]}` : `${key}:[${texts.join(', ')}]`
      return leaf(text, (issue, world) => chosen.some((value) => holds(value)(issue, world)))
    }),
  )
}

const isIdentified = (key: string) => (value: string) => (issue: ModelIssue, world: World) =>
  identitiesOf(issue, world, key).includes(lower(value))

const hasValue = (key: string) => (value: string) => (issue: ModelIssue) => valuesOf(issue, key).includes(lower(value))

function glob(
  key: string,
  patterns: readonly string[],
  of: (issue: ModelIssue, world: World) => readonly string[],
): fc.Arbitrary<Meant> {
  return fc.constantFrom(...patterns).map((pattern) => {
    const body = pattern
      .split('*')
      .map((part) => lower(part).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*')
    const regex = new RegExp(`^${body}$`, 'u')
    return leaf(`${key}:${pattern}`, (issue, world) => of(issue, world).some((value) => regex.test(lower(value))))
  })
}

const OPS = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '': (a: number, b: number) => a === b,
} as const
const op = fc.constantFrom(...(Object.keys(OPS) as (keyof typeof OPS)[]))

const count = (key: string, of: (row: Issue) => number): fc.Arbitrary<Meant> =>
  fc
    .tuple(op, fc.nat(12))
    .map(([sign, value]) => leaf(`${key}:${sign}${value}`, ({ row }) => OPS[sign](of(row), value)))

const DAY_MS = 86_400_000
const UNITS = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS }

/** Events are dated at half past, minus some minutes at most, so no boundary of these is near one. */
function time(key: 'first_seen' | 'last_seen', start: number): fc.Arbitrary<Meant> {
  const of = (row: Issue): number => Date.parse(row[key])
  const ago = fc
    .tuple(
      fc.constantFrom('-', '+'),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom('h' as const, 'd' as const, 'w' as const),
    )
    .map(([sign, amount, unit]) =>
      leaf(`${key}:${sign}${amount}${unit}`, ({ row }, { now }) => {
        const since = now - amount * UNITS[unit]
        return sign === '-' ? of(row) >= since : of(row) < since
      }),
    )
  const day = fc.tuple(op, fc.nat(30)).map(([sign, back]) => {
    const text = new Date(start - back * DAY_MS).toISOString().slice(0, 10)
    return leaf(`${key}:${sign}${text}`, ({ row }) => {
      const own = row[key].slice(0, 10)
      return OPS[sign](own < text ? -1 : own > text ? 1 : 0, 0)
    })
  })
  const instant = fc.tuple(fc.constantFrom('>' as const, '<=' as const), fc.nat(30 * 24)).map(([sign, back]) => {
    const text = new Date(start - back * UNITS.h).toISOString()
    return leaf(`${key}:${sign}${text}`, ({ row }) => OPS[sign](of(row), Date.parse(text)))
  })
  return fc.oneof(ago, day, instant)
}

const HAS: Readonly<Record<string, Meant['holds']>> = {
  tenant: (issue) => valuesOf(issue, 'tenant').length > 0,
  release: (issue) => valuesOf(issue, 'release').length > 0,
  'device.model': (issue) => valuesOf(issue, 'device.model').length > 0,
  user: () => true,
  'user.email': (issue) => issue.events.some(({ identities }) => identities.some(([key]) => key === 'user.email')),
  assigned: ({ row }) => row.assignee_id !== null,
  first_release: ({ row }) => row.first_release !== null,
  level: () => true,
  nosuch: () => false,
}

/** Texts of the newest event, as the list shows them. */
const FIELDS: readonly (readonly [string, (issue: ModelIssue) => readonly string[]])[] = [
  ['title', ({ row }) => [row.title]],
  ['message', ({ row }) => [row.title, row.value ?? '']],
  ['error.value', ({ row }) => [row.title, row.value ?? '']],
  ['culprit', ({ row }) => [row.culprit]],
]

const text = fc.oneof(
  fc.tuple(fc.constantFrom(...WORDS, 'north', 'kind', 'android', 'acme', 'zzz'), fc.nat(9)).chain(([word, length]) => {
    const part = Array.from(word)
      .slice(0, length + 1)
      .join('')
    // `AND` would join terms.
    return anyCase(part === 'and' ? 'andr' : part).map((shown) => leaf(shown, (issue) => says(issue, shown, false)))
  }),
  fc
    .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 })
    .map((words) => leaf(`"${words.join(' ')}"`, (issue) => words.every((word) => says(issue, word, true)))),
)

export const meant = (world: Pick<World, 'me' | 'ben' | 'projects'>, start: number): fc.Arbitrary<Meant> => {
  const assigned = fc
    .constantFrom<[string, (row: Issue, world: World) => boolean]>(
      ['me', (row, { me }) => row.assignee_id === me.id],
      ['none', (row) => row.assignee_id === null],
      [world.ben.email, (row, { ben }) => row.assignee_id === ben.id],
      [`"${world.ben.name}"`, (row, { ben }) => row.assignee_id === ben.id],
      [world.ben.id, (row, { ben }) => row.assignee_id === ben.id],
    )
    .map(([value, is]) => leaf(`assigned:${value}`, ({ row }, all) => is(row, all)))
  // As text, an id that no issue has is words.
  const shortId = fc
    .tuple(fc.constantFrom(...world.projects), fc.integer({ min: 1, max: 30 }), fc.constantFrom('', 'issue:'))
    .chain(([{ slug }, number, key]) =>
      anyCase(`${slug}-${number}`).map((name) =>
        leaf(key + name, (issue, { issues }) => {
          const isIt = ({ row }: ModelIssue): boolean => row.short_id === name.toUpperCase()
          if (key !== '' || issues.some(isIt)) return isIt(issue)
          return name.split('-').every((word) => says(issue, word, false))
        }),
      ),
    )
  const project = fc
    .constantFrom(
      ...world.projects.flatMap(({ id, slug, name }) => [slug, name, id].map((value) => [value, id] as const)),
    )
    .map(([value, id]) => leaf(`project:"${value}"`, ({ row }) => row.project_id === id))
  const term = fc.oneof(
    { weight: 4, arbitrary: text },
    listed(
      'is',
      ISSUE_STATUSES,
      (status) =>
        ({ row }) =>
          row.status === status,
    ),
    listed(
      'level',
      EVENT_LEVELS,
      (level) =>
        ({ row }) =>
          row.level === (level as EventLevel),
    ),
    listed(
      'severity',
      SEVERITIES,
      (severity) =>
        ({ row }) =>
          row.severity === severity,
    ),
    fc
      .tuple(fc.constantFrom('unhandled', 'handled'), fc.boolean())
      .map(([key, yes]) =>
        leaf(`${key}:${String(yes)}`, ({ row }) => row.is_unhandled === (yes === (key === 'unhandled'))),
      ),
    assigned,
    project,
    listed('release', RELEASES, hasValue('release')),
    glob('release', ['*.0', '*2*', '*+7', '*@*.3'], (issue) => valuesOf(issue, 'release')),
    glob('release', ['1.2.*', '1.*.0', '1*', 'app@*', '2.0.0-*+7', '1.2*9', '9*'], (issue) =>
      valuesOf(issue, 'release'),
    ),
    glob('first_release', ['1.2.0', '1.2.*', 'APP@*', '*.0', '*2*'], ({ row }) =>
      row.first_release === null ? [] : namesOf(row.first_release),
    ),
    glob('last_release', ['1.3.0', '1.*.0', '2*'], ({ row }) =>
      row.last_release === null ? [] : namesOf(row.last_release),
    ),
    listed('environment', ['production', 'staging', 'nowhere'], hasValue('environment')),
    listed('tenant', [...TENANTS, 'unknown'], hasValue('tenant')),
    glob('tenant', ['*b', '*off*', '*\\new', '*wind', '*_*'], (issue) => valuesOf(issue, 'tenant')),
    glob('tag.tenant', ['a*b', '50%_*', '50*off', 'c:\\*', 'no*ind', 'ü*', 'North*'], (issue) =>
      valuesOf(issue, 'tenant'),
    ),
    listed('tag.level', ['gold', 'tin'], hasValue('tag.level')),
    listed('device.model', DEVICES, hasValue('device.model')),
    glob('type', ['Kind1*', 'kind*Error', 'KIND2error'], (issue) => valuesOf(issue, 'type')),
    fc
      .constantFrom(...USERS)
      .map((user) => leaf(`user.id:${user}`, (issue) => issue.events.some((event) => event.user === user))),
    fc
      .constantFrom(...USERS, ...USERS.flatMap(addressesOf), ...IPS)
      .map((user) =>
        leaf(
          `user:${user}`,
          (issue, all) =>
            issue.events.some((event) => event.user === user) || identitiesOf(issue, all).includes(lower(user)),
        ),
      ),
    glob('user', ['ki*', '*@example.org', '10.*', '*7*'], (issue, all) => identitiesOf(issue, all)),
    shortId,
    text
      .filter(({ text: word }) => !word.startsWith('"'))
      .chain(({ text: word, holds }) =>
        fc
          .constantFrom(...FIELDS)
          .map(([key, of]) =>
            leaf(
              `${key}:${word}`,
              (issue, all) => holds(issue, all) && of(issue).some((one) => lower(one).includes(lower(word))),
            ),
          ),
      ),
    fc
      .constantFrom(...FIELDS)
      .chain(([key, of]) => glob(key, ['*checkout*', '*ERROR:*', 'kind*', 'Kind1*:*', '*ok', '*結帳*'], of)),
    listed('user.email', [...USERS.flatMap(addressesOf), 'zoe@example.com'], isIdentified('user.email')),
    listed('user.ip', [...IPS, '192.0.2.1'], isIdentified('user.ip')),
    glob('user.email', ['*@example.com', 'ki*', '7@*', 'u9*@example.org', '8*t*.*'], (issue, all) =>
      identitiesOf(issue, all, 'user.email'),
    ),
    glob('user.ip', ['10.0.0.1*', '10.*2', '10*', '99*'], (issue, all) => identitiesOf(issue, all, 'user.ip')),
    glob('user.username', ['Name*', 'name*9', 'NAME 7', 'x*'].slice(0, 2), (issue, all) =>
      identitiesOf(issue, all, 'user.username'),
    ),
    fc
      .constantFrom(...USERS.flatMap(addressesOf), ...IPS)
      .chain((address) => fc.tuple(fc.constant(address), fc.constantFrom(address, `"${address}"`)))
      .map(([address, written]) =>
        leaf(
          written,
          (issue, all) =>
            identitiesOf(issue, all).includes(lower(address)) ||
            wordsIn(address).every((word) => says(issue, word, written !== address)),
        ),
      ),
    fc.constantFrom(...Object.keys(HAS)).map((key) => leaf(`has:${key}`, HAS[key] ?? (() => false))),
    count('events', (row) => row.event_count),
    count('users', (row) => row.user_count),
    time('first_seen', start),
    time('last_seen', start),
  )
  // A sign before a sign is text, so a double negation needs parentheses.
  const not = ({ text: inner, isGroup, holds }: Meant, sign: string): Meant => ({
    text: isGroup ? `${sign}(${inner})` : `${sign}${inner}`,
    isGroup: true,
    holds: (issue, all) => !holds(issue, all),
  })
  const inside = ({ text: inner, isGroup }: Meant): string => (isGroup ? `(${inner})` : inner)
  const { tree } = fc.letrec<{ tree: Meant }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 4, arbitrary: term },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.array(tie('tree'), { minLength: 2, maxLength: 3 }), fc.constantFrom(' ', ' AND ', '  '))
          .map(([parts, joint]): Meant => ({
            text: parts.map(inside).join(joint),
            isGroup: true,
            holds: (issue, all) => parts.every((part) => part.holds(issue, all)),
          })),
      },
      {
        weight: 2,
        arbitrary: fc
          .array(fc.array(tie('tree'), { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 3 })
          .map((sides): Meant => ({
            // Without parentheses: terms side by side bind before OR.
            text: sides.map((parts) => parts.map(inside).join(' ')).join(' OR '),
            isGroup: true,
            holds: (issue, all) => sides.some((parts) => parts.every((part) => part.holds(issue, all))),
          })),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(tie('tree'), fc.constantFrom('-', '!', 'NOT ')).map(([part, sign]) => not(part, sign)),
      },
    ),
  }))
  // Another test covers too many infix patterns.
  return tree.filter((query) => (query.text.match(/\*[^\s,)\]"]/g) ?? []).length <= MAX_SCANNED_VALUES)
}
