import { useQuery } from '@tanstack/react-query'
import { useMatches, useParams, useSearch } from '@tanstack/react-router'
import { projectsQuery, type Project } from '../api/queries.ts'
import { useShownProject } from './page-project.ts'
import { DEFAULT_RANGE, selectedWindow, type Range } from '../address/search.ts'

/** Project and time range of the address, for the shell and for pages. */
export type Scope = {
  /** Null for all projects. */
  projectId: string | null
  /** The project of the page: the selected one, else the project of the issue or release it shows. */
  pageProjectId: string | null
  /** The project of the page; null for all projects, or while they load. */
  project: Project | null
  range: Range
  /** Undefined if the address has none: each page has a default. */
  chosenRange: Range | undefined
  /** A time of one's own, or a part of the range. */
  window: { from: string; to: string } | null
  /** Which of them can be changed on the present page. */
  offers: { project: 'any' | 'one' | 'none'; range: boolean; dates?: boolean; defaultRange?: Range }
}

export function useScope(): Scope {
  const search = useSearch({ strict: false })
  const params = useParams({ strict: false })
  const offers = useMatches({
    select: (matches) => matches.findLast((match) => match.staticData.scope !== undefined)?.staticData.scope,
  })
  const projects = useQuery(projectsQuery)
  const projectId = params.projectId ?? search.project ?? null
  const pageProjectId = useShownProject() ?? projectId
  return {
    projectId,
    pageProjectId,
    project: projects.data?.items.find((project) => project.id === pageProjectId) ?? null,
    range: search.range ?? offers?.defaultRange ?? DEFAULT_RANGE,
    chosenRange: search.range,
    window: selectedWindow({ from: search.from, to: search.to }),
    offers: offers ?? { project: 'none', range: false },
  }
}
