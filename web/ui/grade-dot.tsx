import styles from './grade-dot.module.css'

export type Grade = 'good' | 'warn' | 'bad'

/** A grade beside its figure: a disc, a diamond or a square. */
export const GradeDot = ({ grade }: { grade: Grade }) => (
  <span className={styles.grade} data-grade={grade} aria-hidden="true" />
)
