import type { RangeName } from '#shared/issue-values.ts'
import type { Facts } from './facts.ts'
import type { Question } from './question.ts'
import { type Project, page, Project as ProjectShape } from './shapes.ts'
import { coveringRange, isWholeRange, lastDays, rangeLabel, type Period, withinDays } from './time-words.ts'

/** The input of an intent: the question with its scope, the means to read facts, and the answer to write. */
export type Asked = {
  readonly question: Question
  /** The projects that are asked about: one, or all of the organisation. Empty when the caller may not read them. */
  readonly projects: readonly Project[]
  /** The only project that is asked about. */
  readonly projectId: string | null
  /** Why the caller may not read the list of projects; null when they may. */
  readonly noProjects: string | null
  readonly facts: Facts
  /** Writes a paragraph or an item of a list. */
  readonly say: (line: string) => void
}

/** One kind of question: recognised by its words, answered from facts. */
export type Intent = {
  readonly name: string
  /** The time of its figures, when it is always the same. */
  readonly fixedTime?: string
  /** Whether it keeps to further conditions of issues. */
  readonly takesTerms?: true
  /** How well the words fit; 0 is not at all. */
  fits(question: Question): number
  answer(asked: Asked): Promise<void>
}

/** Projects of which figures are read one by one. */
export const MAX_PROJECTS = 10

/** Reads figures of each project that is asked about, and leaves out those without. */
export async function ofProjects<T>(
  { projects, noProjects, facts }: Asked,
  read: (project: Project) => Promise<T | null>,
): Promise<{ readonly project: Project; readonly figures: T }[]> {
  if (projects.length === 0 && noProjects !== null) facts.refused.add(noProjects)
  const all = await Promise.all(
    projects.slice(0, MAX_PROJECTS).map(async (project) => ({ project, figures: await read(project) })),
  )
  return all.flatMap(({ project, figures }) => (figures === null ? [] : [{ project, figures }]))
}

/** The projects of the organisation, as far as the caller may read them. */
export async function readProjects(facts: Facts): Promise<readonly Project[]> {
  return (await facts.read('listProjects', page(ProjectShape), { query: { limit: '100' } }))?.items ?? []
}

/** " of Shop", or " of all projects". */
export const ofScope = ({ projects, projectId }: Asked): string =>
  projectId === null
    ? projects.length === 1
      ? ` of ${projects[0]?.name}`
      : ' of all projects'
    : ` of ${nameOf(projects[0])}`

const nameOf = (project: Project | undefined): string => project?.name ?? 'the project'

/** The period that the question names, else the last days; of one that is too long the end, and says so. */
export function askedPeriod({ question, facts, say }: Asked, maxDays = MAX_DAYS): Period {
  const period = question.period ?? lastDays(7, facts.now)
  const whole = withinDays(period, maxDays, facts.now)
  if (whole !== period) say(`That is longer than can be counted at once, so this is ${whole.label}.`)
  return whole
}

/** Days of which events are counted at once. */
const MAX_DAYS = 90

/** The range of figures that has the period; figures are counted in ranges that end now, and says so of other periods. */
export function askedRange(asked: Asked, days = 7): { range: RangeName; label: string } {
  const period = asked.question.period ?? lastDays(days, asked.facts.now)
  const range = coveringRange(period, asked.facts.now)
  if (isWholeRange(period, asked.facts.now)) return { range, label: period.label }
  const label = rangeLabel(range)
  asked.say(
    `These figures are kept for ranges that end now, so they are those ${label}, not of exactly the time that was asked for.`,
  )
  return { range, label }
}

/** `q` of lists of issues, with the filters that the question names. */
export function issueTerms({ os, device, environment, user, terms: conditions }: Question): string[] {
  const terms = [...conditions]
  if (os !== null) terms.push(`os.name:${os}`)
  if (device !== null) terms.push(`device.model:${quotedTerm(device)}`)
  if (environment !== null) terms.push(`environment:${environment}`)
  if (user !== null) terms.push(`user:${quotedTerm(user)}`)
  return terms
}

/** A value of a query, in quotes. */
export const quotedTerm = (text: string): string => `"${text.replaceAll(/["\\]/g, ' ')}"`

/** The filters as words: " on Android in production". */
export function filterWords({ os, device, environment, terms }: Question): string {
  return [
    os === null ? '' : ` on ${os}`,
    device === null ? '' : ` on ${device}`,
    environment === null ? '' : ` in ${environment}`,
    terms.length === 0 ? '' : ` with ${terms.join(' ')}`,
  ].join('')
}

/** Filters of figures that are counted from sessions. */
export const healthFilters = ({ os, device, environment }: Question, release?: string) => ({
  ...(os === null ? {} : { os: [os] }),
  ...(device === null ? {} : { device: [device] }),
  ...(environment === null ? {} : { environment: [environment] }),
  ...(release === undefined ? {} : { release: [release] }),
})
