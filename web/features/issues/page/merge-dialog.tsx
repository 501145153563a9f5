import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type SyntheticEvent } from 'react'
import { mergeSearchQuery, similarQuery } from '../../../api/grouping-queries.ts'
import { useMerge } from './merging.ts'
import type { Issue, IssueDetail } from '../../../api/issue-queries.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { mergeTexts } from './merge-texts.ts'
import { appTexts } from '../../../app/texts.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import styles from './merge-dialog.module.css'
import typeStyles from '../../../ui/type.module.css'

/** Delay between typing and searching. */
const SETTLE_MS = 250

/** Searches and selects issues to merge. The selection is kept for the next search. */
export function MergeDialog({ issue, onClose }: { issue: IssueDetail; onClose: () => void }) {
  const [text, setText] = useState('')
  const [q, setQ] = useState('')
  const [picked, setPicked] = useState<ReadonlyMap<string, Issue>>(new Map())
  const found = useQuery(mergeSearchQuery(issue.project_id, q))
  const similar = useQuery(similarQuery(issue.id))
  const merge = useMerge(issue, onClose)
  useEffect(() => {
    const timer = setTimeout(() => setQ(text.trim()), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text])

  // Similar issues come first until a search is typed.
  const suggested = q === '' ? (similar.data?.items ?? []).map((one) => one.issue) : []
  const others = [...suggested, ...(found.data?.items ?? [])].filter(({ id }) => id !== issue.id && !picked.has(id))
  const shown = [...new Map([...picked.values(), ...others].map((one) => [one.id, one])).values()]
  const toggle = (one: Issue) => {
    const next = new Map(picked)
    if (!next.delete(one.id)) next.set(one.id, one)
    setPicked(next)
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (picked.size > 0 && !merge.isPending) merge.mutate([...picked.values()])
  }
  return (
    <Dialog open onClose={onClose} title={mergeTexts.mergeTitle(issue.short_id)} wide>
      <p>{mergeTexts.mergeText}</p>
      <form className={fitStyles.loose} onSubmit={submit}>
        <Field
          label={mergeTexts.mergeSearch}
          hint={mergeTexts.mergeSearchHint}
          type="search"
          value={text}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => setText(event.target.value)}
        />
        <div className={classNames(styles.picks, choiceStyles.hoverItems)} aria-busy={found.isFetching}>
          <PageQuery
            query={found}
            what={mergeTexts.mergeSearch}
            inCard
            waiting={<Minor as="p">{appTexts.loading}</Minor>}
          >
            {() =>
              shown.length === 0 ? (
                <Minor as="p" role="status">
                  {mergeTexts.mergeNone}
                </Minor>
              ) : (
                <ul className={fitStyles.divided}>
                  {shown.map((one) => (
                    <li key={one.id}>
                      <label>
                        <input type="checkbox" checked={picked.has(one.id)} onChange={() => toggle(one)} />
                        <span className={fitStyles.fills}>
                          <span className={classNames(fitStyles.block, fitStyles.ellipsis)}>{one.title}</span>
                          <Minor>
                            <ShortId>{one.short_id}</ShortId> {one.culprit}
                          </Minor>
                        </span>
                        <Minor className={`${typeStyles.figures} ${styles.count}`}>
                          {formatCount(one.event_count)}
                        </Minor>
                      </label>
                    </li>
                  ))}
                </ul>
              )
            }
          </PageQuery>
        </div>
        <DialogFoot
          onClose={onClose}
          submit={mergeTexts.mergeRun(picked.size)}
          busy={merge.isPending}
          why={picked.size === 0 ? mergeTexts.mergePick : undefined}
        />
      </form>
    </Dialog>
  )
}
