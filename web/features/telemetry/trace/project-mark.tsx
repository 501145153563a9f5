import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { projectsQuery } from '../../../api/queries.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import styles from './project-mark.module.css'

const SERIES = 6

/** The series of a project. */
export type SeriesOf = (projectId: string) => number

/**
 * The colours of projects, the same on every page: the place of a project among all of the organisation, by age. Above six
 * projects two may share one, and the name is always beside it.
 */
export function useProjectSeries(): SeriesOf {
  const projects = useQuery(projectsQuery).data?.items
  return useMemo(() => assignSeries(projects ?? []), [projects])
}

export function assignSeries(projects: readonly { readonly id: string; readonly number: number }[]): SeriesOf {
  const byAge = projects.toSorted((a, b) => a.number - b.number)
  const places = new Map(byAge.map(({ id }, index) => [id, (index % SERIES) + 1]))
  return (projectId) => places.get(projectId) ?? 1
}

/** The colour of a project and its name. */
export const ProjectMark = ({ name, series }: { name: string; series: number }) => (
  <span className={styles.project}>
    <i className={classNames(styles.key, styles.series, fitStyles.ownColour)} data-series={series} aria-hidden="true" />
    <span className={fitStyles.ellipsis}>{name}</span>
  </span>
)

/** Sets the colour of a project as the custom property `--series`, by `data-series`. */
export const seriesClass = styles.series
