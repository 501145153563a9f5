import styles from './big-figure.module.css'

/** A headline figure; its unit, after a narrow space, is smaller. */
export function BigFigure({ children: text, title }: { children: string; title?: string | undefined }) {
  const [, figure = text, unit] = /^(.*?)\u202f(\S+)$/u.exec(text) ?? []
  return (
    <span className={styles.figure} data-words={/\d/.test(text) ? undefined : ''} title={title}>
      {figure}
      {unit === undefined ? null : <small>{`\u202f${unit}`}</small>}
    </span>
  )
}
