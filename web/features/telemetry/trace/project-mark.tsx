import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import styles from './project-mark.module.css'

const SERIES = 6

/** The series of a project on a page: its place among the projects there. */
export type SeriesOf = (projectId: string) => number

export function assignSeries(projectIds: readonly string[]): SeriesOf {
  const places = new Map([...new Set(projectIds)].map((id, index) => [id, (index % SERIES) + 1]))
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
