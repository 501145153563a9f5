import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { showRefused, type Refused } from '../../../subjects/issue/refused.ts'
import { paths } from '../../../address/paths.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Minor, ShortId } from '../../../ui/text.tsx'
import { bulkTexts } from './bulk-texts.ts'
import styles from './refused-dialog.module.css'
import issuesStyles from './issues.module.css'

/** The issues that were not changed, with reasons. */
export function IssueRefusedDialog({ refused }: { refused: Refused }) {
  const close = () => showRefused(null)
  // Closed when the page is left.
  useEffect(() => () => showRefused(null), [])
  return (
    <Dialog open onClose={close} title={bulkTexts.refusedTitle(refused.total)}>
      <ul className={classNames(styles.refused, fitStyles.breakSpans, issuesStyles.scrollY)}>
        {refused.rows.map(({ issueId, name, reason }) => (
          <li key={issueId}>
            <Link {...paths.issue(issueId)}>
              <ShortId>{name ?? bulkTexts.refusedUnknown}</ShortId>
            </Link>
            <span>{reason}</span>
          </li>
        ))}
      </ul>
      {refused.total > refused.rows.length ? <Minor as="p">{bulkTexts.refusedFirst(refused.rows.length)}</Minor> : null}
    </Dialog>
  )
}
