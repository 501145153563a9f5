import { Button } from '../../ui/button.tsx'
import { formatWindow } from '../../ui/format.ts'
import { useKeys } from '../../app/keys.ts'
import type { Window } from './time-window.ts'
import { figuresTexts } from './texts.ts'
import styles from './health.module.css'

/** Says which part of the range the charts show, with the way back (`Esc`). */
export function WindowNote({ window, onWhole }: { window: Window | null; onWhole: () => void }) {
  useKeys(
    window === null
      ? []
      : [{ keys: 'escape', label: figuresTexts.wholeRange, group: 'Page', run: onWhole, sheetOnly: true }],
  )
  if (window === null) return null
  return (
    <div className={styles.part} role="status">
      <span>{figuresTexts.part(formatWindow(window.from, window.to))}</span>
      <Button size="sm" icon="x" onClick={onWhole}>
        {figuresTexts.wholeRange}
      </Button>
    </div>
  )
}
