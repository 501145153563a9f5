import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { PerformanceSort } from './performance.api.ts'
import { prepareQuestion, type Filters } from './question.ts'
import { describeScreens, rateScreens, type RatedScreen, comparedReleases } from './rate-screens.ts'
import { pageOfRows, sortRows, type Sortable } from './sort-rows.ts'

export type ListInput = Filters & {
  readonly sort: PerformanceSort
  readonly limit: number
  readonly offset: number
}

/** A page of the screens and pages of a project. @throws AppError not_found */
export async function listScreens(app: App, actor: OrgActor, input: ListInput) {
  const question = await prepareQuestion(app, actor, input)
  const [screens, releases] = await Promise.all([rateScreens(app, question.now), comparedReleases(app, question)])
  const page = pageOfRows(sortScreens(screens, input.sort), input)
  return { ...page, items: await describeScreens(app, question, page.items, releases), range: input.range, releases }
}

export const sortScreens = (screens: readonly RatedScreen[], sort: PerformanceSort): RatedScreen[] =>
  sortRows(screens, sort, sortableOf)

const sortableOf = ({ name, op, count, render: { p50, p75, p95, sum: total, failures } }: RatedScreen): Sortable => ({
  name,
  op,
  count,
  total,
  failures,
  p50,
  p75,
  p95,
})
