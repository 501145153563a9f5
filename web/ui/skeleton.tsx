import { useEffect, useState } from 'react'
import { Card } from './card.tsx'
import styles from './skeleton.module.css'

const PATIENCE_MS = 150

/** False for the first 150 ms, so that fast loads show no skeleton. */
function useLate(): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return late
}

/** Skeleton rows with the height of the content and varying widths. */
export function SkeletonRows({ rows, label }: { rows: number; label: string }) {
  const late = useLate()
  const widths = ['58%', '44%', '66%', '50%', '61%', '40%']
  const lower = ['34%', '40%', '28%', '36%', '31%', '24%']
  return (
    <ul aria-busy="true" aria-label={label}>
      {Array.from({ length: rows }, (_, row) => (
        <li key={row} className={styles.row}>
          {late ? (
            <>
              <span className={styles.bar} data-width="16" />
              <span>
                <span className={styles.bar} style={{ inlineSize: widths[row % widths.length] }} />
                <span className={styles.bar} style={{ inlineSize: lower[row % lower.length] }} />
              </span>
              <span className={styles.bar} data-width="100" />
            </>
          ) : null}
        </li>
      ))}
    </ul>
  )
}

/** A skeleton block with the height of the content. */
export function Skeleton({ heightPx, label }: { heightPx: number; label: string }) {
  const late = useLate()
  return (
    <Card as="div" style={{ blockSize: heightPx }} aria-busy="true" aria-label={label} role="status">
      {late ? (
        <div className={styles.row}>
          <span className={styles.bar} data-width="16" />
          <span>
            <span className={styles.bar} style={{ inlineSize: '42%' }} />
            <span className={styles.bar} style={{ inlineSize: '27%' }} />
          </span>
        </div>
      ) : null}
    </Card>
  )
}
