import type { Import } from '../../../api/import-queries.ts'
import { Bar } from '../../../ui/bar.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { LiveText } from '../../../ui/live-text.tsx'
import { Minor } from '../../../ui/text.tsx'
import { computeShare } from './share.ts'
import { importTexts } from './texts.ts'
import styles from './imports.module.css'

const texts = importTexts.progress
const KINDS = ['projects', 'members', 'releases', 'rules', 'issues', 'comments', 'events'] as const

export function ProgressCard({ one }: { one: Import }) {
  const share = computeShare(one)
  return (
    <Card
      title={texts.title}
      header={
        <span className={fitStyles.atEnd}>
          {one.state === 'running' ? (
            <LiveText>{importTexts.steps.percent(share)}</LiveText>
          ) : (
            importTexts.steps.percent(share)
          )}
        </span>
      }
    >
      <div className={styles.total}>
        <Bar share={share} className={styles.totalBar} />
        <Minor as="p">{texts.resumes}</Minor>
      </div>
      <ul className={styles.kinds}>
        {KINDS.map((kind) => {
          const { done, total } = one.counts[kind]
          return (
            <li key={kind} data-full={one.state === 'done' || done === total ? '' : undefined}>
              <span>{texts.kinds[kind]}</span>
              <Bar share={total === null || total === 0 ? (done > 0 || one.state === 'done' ? 1 : 0) : done / total} />
              <span className={styles.count}>
                <b>{formatCount(done)}</b>
                {total === null ? null : <Minor>{texts.of(total)}</Minor>}
              </span>
              <Minor className={classNames(narrowStyles.hiddenAt900, fitStyles.ellipsis)}>{texts.notes[kind]}</Minor>
            </li>
          )
        })}
      </ul>
      {one.now === null ? null : <CardFooter note={texts.now(one.now)} />}
    </Card>
  )
}
