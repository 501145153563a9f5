import { useId, useState } from 'react'
import type { AuditFilters } from '../../../api/audit-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { filterWords, isActionFilter } from './model.ts'
import { auditTexts } from './texts.ts'
import styles from './filter-form.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = auditTexts.filters

/** Actions that are often looked for; any action can be typed. */
const SUGGESTED = [
  'signin.*',
  'signin.failed',
  'signup.*',
  'session.*',
  'user.*',
  'issue.*',
  'comment.*',
  'project.*',
  'release.*',
  'org.*',
  'webhook.*',
  'webhook.tls_error',
  'access.denied',
  'ratelimit.exceeded',
]

type AuditFilterFormProps = {
  filters: AuditFilters
  onChange: (filters: AuditFilters) => void
  onClear: () => void
}

/** The filters of the log, applied together. */
export function AuditFilterForm({ filters, onChange, onClear }: AuditFilterFormProps) {
  const [draft, setDraft] = useState({
    action: filters.action ?? '',
    actor: filters.actor ?? '',
    target: filters.target ?? '',
    from: filters.from ?? '',
    to: filters.to ?? '',
  })
  const [tried, setTried] = useState(false)
  const listId = useId()
  const action = draft.action.trim().toLowerCase()
  const isWrong = action !== '' && !isActionFilter(action)
  const given = (text: string) => (text.trim() === '' ? undefined : text.trim())
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (isWrong) return focusFirstInvalid(form)
    onChange({
      action: given(action),
      actor: given(draft.actor),
      target: given(draft.target),
      from: given(draft.from),
      to: given(draft.to),
    })
  }
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value }),
  })
  return (
    <search aria-label={texts.name}>
      <Form className={styles.form} onSubmit={submit}>
        <Field
          label={texts.action}
          placeholder={texts.actionHint}
          error={tried && isWrong ? texts.actionWrong : undefined}
          className={typeStyles.mono}
          list={listId}
          maxLength={101}
          autoComplete="off"
          spellCheck={false}
          {...field('action')}
        />
        <datalist id={listId}>
          {SUGGESTED.map((suggestion) => (
            <option key={suggestion}>{suggestion}</option>
          ))}
        </datalist>
        <Field
          label={texts.actor}
          placeholder={texts.actorHint}
          maxLength={320}
          autoComplete="off"
          spellCheck={false}
          {...field('actor')}
        />
        <Field
          label={texts.target}
          placeholder={texts.targetHint}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
          {...field('target')}
        />
        <Field label={texts.from} type="date" {...field('from')} />
        <Field label={texts.to} type="date" {...field('to')} />
        <Toolbar className={styles.buttons}>
          <Button type="submit" icon="filter">
            {texts.apply}
          </Button>
          {filterWords(filters).length === 0 ? null : (
            <Button look="ghost" onClick={onClear}>
              {texts.clear}
            </Button>
          )}
        </Toolbar>
      </Form>
    </search>
  )
}
