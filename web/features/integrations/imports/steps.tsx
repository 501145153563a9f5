import type { Import } from '../../../api/import-queries.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Minor } from '../../../ui/text.tsx'
import { computeShare } from './share.ts'
import { importTexts } from './texts.ts'
import styles from './imports.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = importTexts.steps

/** Source, mapping, import, report: which are done, and what each came to. */
export function Steps({ one }: { one: Import }) {
  const taken = one.mapping.filter((project) => project.taken).length
  const now = one.state === 'mapping' ? 1 : one.state === 'done' || one.state === 'stopped' ? 3 : 2
  const steps = [
    [texts.source, texts.sourceDone(one.mapping.length)],
    [texts.mapping, now === 1 ? texts.mappingNow : texts.mappingDone(taken, one.mapping.length - taken)],
    [texts.import, now === 1 ? texts.importNext : texts.percent(computeShare(one))],
    [texts.report, now === 1 ? '' : texts.differences(one.differences)],
  ] as const
  return (
    <ol className={styles.steps} aria-label={texts.label}>
      {steps.map(([name, note], index) => (
        <li
          key={name}
          className={index > now ? typeStyles.quiet : undefined}
          aria-current={index === now ? 'step' : undefined}
          data-done={index < now ? '' : undefined}
        >
          <span className={styles.number}>{index < now ? <Icon name="check" /> : index + 1}</span>
          <div>
            <b className={fitStyles.block}>{name}</b>
            <Minor as="small">{note}</Minor>
          </div>
        </li>
      ))}
    </ol>
  )
}
