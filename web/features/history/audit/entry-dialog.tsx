import type { ReactNode } from 'react'
import type { AuditEntry } from '../../../api/audit-queries.ts'
import type { AuditSearch } from '../../../address/search.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CardHeader } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Json } from '../../../ui/highlight.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { actorName, auditSentence, targetName, repeatCountText } from './model.ts'
import { Outcome } from './outcome.tsx'
import { auditTexts } from './texts.ts'
import styles from './entry-dialog.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = auditTexts.detail

type EntryDialogProps = {
  entry: AuditEntry
  onFilter: (filter: AuditSearch) => void
  onClose: () => void
}

/** One entry with everything that it holds. */
export function EntryDialog({ entry, onFilter, onClose }: EntryDialogProps) {
  const { actor, target } = entry
  const json = JSON.stringify(entry, null, 2)
  const times = repeatCountText(entry)
  const sentence = auditSentence(entry)
  const actorFilter = actor.email ?? actor.id
  const targetFilter = target.id ?? target.label
  return (
    <Dialog
      open
      bare
      title={texts.title(entry.action)}
      onClose={onClose}
      className={classNames(styles.dialog, fitStyles.wideDialog)}
    >
      <CardHeader>
        <h2 className={typeStyles.mono}>{entry.action}</h2>
        <Outcome outcome={entry.outcome} />
        {times === null ? null : <Minor>{times}</Minor>}
        <Spacer />
        <CopyButton size="sm" text={json} said={texts.copied}>
          {texts.copy}
        </CopyButton>
        <IconButton look="ghost" size="sm" icon="x" label={texts.close} data-autofocus onClick={onClose} />
      </CardHeader>
      <div className={classNames(styles.body, fitStyles.dialogBody)}>
        {sentence === null ? null : <p>{sentence}</p>}
        <KeyValues className={styles.values}>
          <Row name={texts.time}>
            <Time at={entry.created_at} as="exact" />
          </Row>
          <Row name={texts.actor}>
            {actorName(actor)}
            {actor.role === null ? null : <Minor>, {actor.role}</Minor>}
          </Row>
          <Row name={texts.target}>
            {targetName(target)}
            {target.type === null || target.label === null ? null : <Minor>, {target.type}</Minor>}
          </Row>
          {entry.event_type === null ? null : <Row name={texts.event}>{entry.event_type}</Row>}
          <Row name={texts.address}>{entry.ip ?? auditTexts.noAddress}</Row>
          {entry.user_agent === null ? null : <Row name={texts.userAgent}>{entry.user_agent}</Row>}
          {entry.session_id === null ? null : <Row name={texts.session}>{entry.session_id}</Row>}
          {entry.request_id === null ? null : <Row name={texts.request}>{entry.request_id}</Row>}
          <Row name={texts.number}>{entry.seq}</Row>
          <Row name={texts.hash} mono>
            {entry.hash}
          </Row>
          <Row name={texts.previous} mono>
            {entry.prev_hash}
          </Row>
        </KeyValues>
        <Toolbar>
          <Button size="sm" icon="filter" onClick={() => onFilter({ action: entry.action })}>
            {texts.onlyAction}
          </Button>
          {actorFilter === null ? null : (
            <Button size="sm" icon="filter" onClick={() => onFilter({ actor: actorFilter })}>
              {texts.onlyActor}
            </Button>
          )}
          {targetFilter === null ? null : (
            <Button size="sm" icon="filter" onClick={() => onFilter({ target: targetFilter })}>
              {texts.onlyTarget}
            </Button>
          )}
        </Toolbar>
        {/* Focusable, so that keys can scroll it. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre tabIndex={0} role="region" aria-label={texts.json}>
          <code>
            <Json source={json} />
          </code>
        </pre>
      </div>
    </Dialog>
  )
}

const Row = ({ name, mono = false, children }: { name: string; mono?: boolean; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd className={mono ? typeStyles.mono : undefined}>{children}</dd>
  </div>
)
