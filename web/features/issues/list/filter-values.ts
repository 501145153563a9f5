import { setValues, requiredTerms, requiredValues } from '#shared/query-terms.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { isOwnKey } from '../../../api/term-keys.ts'
import type { IssuesSearch } from '../../../address/search.ts'

/** Values that the filter panel and the environment menu read from the address and write to it. Pure. */

/** Filters of the panel by values. Their first name is the key of the query that they write. */
const NAMES = {
  environment: ['environment', 'env'],
  release: ['release'],
  level: ['level'],
  severity: ['severity'],
  platform: ['platform'],
} as const
export type ValueFilter = keyof typeof NAMES | `tag:${string}`

/** Filters with a parameter of their own, unless the query names them. */
const isParameter = (filter: ValueFilter): filter is 'severity' | 'platform' =>
  filter === 'severity' || filter === 'platform'

const isNamed = (filter: ValueFilter): filter is keyof typeof NAMES => Object.hasOwn(NAMES, filter)

/** The key of the query. */
export const filterQueryKey = (filter: ValueFilter): string => namesOf(filter)[0] ?? ''

const namesOf = (filter: ValueFilter): readonly string[] =>
  isNamed(filter) ? NAMES[filter] : [filter.slice('tag:'.length)]

/** The values that a filter lets pass; none for all. */
export function chosenValues(search: IssuesSearch, filter: ValueFilter): readonly string[] {
  const values = requiredValues(search.q ?? '', namesOf(filter))
  return values.length === 0 && isParameter(filter) ? (search[filter] ?? []) : values
}

/** Adds the values to the chosen ones, or removes them if one of them is chosen. Upper and lower case are the same. */
export function toggled(search: IssuesSearch, filter: ValueFilter, values: readonly string[]): Partial<IssuesSearch> {
  const chosen = chosenValues(search, filter)
  const isMeant = (value: string) => values.some((one) => isSame(one, value))
  const others = chosen.filter((value) => !isMeant(value))
  return withValues(search, filter, others.length < chosen.length ? others : [...chosen, ...values])
}

/** Lets only these values pass; none for all. */
export function withValues(
  search: IssuesSearch,
  filter: ValueFilter,
  values: readonly string[],
): Partial<IssuesSearch> {
  const q = search.q ?? ''
  if (!isParameter(filter) || requiredValues(q, namesOf(filter)).length > 0)
    return { q: orNone(setValues(q, namesOf(filter), values)) }
  if (filter === 'platform') return { platform: values.length === 0 ? undefined : [...values] }
  const severity = SEVERITIES.filter((one) => values.includes(one))
  return { severity: severity.length === 0 ? undefined : severity }
}

export const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const ASSIGNED = ['assigned', 'assignee', 'assignee_id', 'owner']

/** `me`, `none`, a member's id, or what the query says of the assignee; undefined for anyone. */
export const chosenAssignee = (search: IssuesSearch): string | undefined =>
  requiredValues(search.q ?? '', ASSIGNED)[0] ?? search.assignee

export const withAssignee = (search: IssuesSearch, assignee: string | undefined): Partial<IssuesSearch> => ({
  q: orNone(setValues(search.q ?? '', ASSIGNED, [])),
  assignee,
})

const orNone = (q: string): string | undefined => (q.trim() === '' ? undefined : q)

/** The tags that the query has values of. */
export const queriedTags = ({ q = '' }: IssuesSearch): string[] => [
  ...new Set(requiredTerms(q).flatMap(({ key, isNegated }) => (isNegated || isOwnKey(key) ? [] : [key.toLowerCase()]))),
]

const filtersIn = (search: IssuesSearch): ValueFilter[] => [
  ...(['environment', 'release', 'level', 'severity', 'platform'] as const),
  ...queriedTags(search).map((key) => `tag:${key}` as const),
]

/** How many filters of the panel are set. */
export const countSet = (search: IssuesSearch): number =>
  filtersIn(search).filter((filter) => chosenValues(search, filter).length > 0).length +
  (chosenAssignee(search) === undefined ? 0 : 1)

/** Clears the filters of the panel, in the query too; the rest of the query stays. */
export function cleared(search: IssuesSearch): Partial<IssuesSearch> {
  const q = filtersIn(search).reduce((text, filter) => setValues(text, namesOf(filter), []), search.q ?? '')
  return { ...withAssignee({ ...search, q }, undefined), severity: undefined, platform: undefined }
}
