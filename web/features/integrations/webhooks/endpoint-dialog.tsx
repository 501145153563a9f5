import { useState } from 'react'
import { ApiError, call, type AnswerOf } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, focusFirstInvalid } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { Minor } from '../../../ui/text.tsx'
import {
  endpointChangeBody,
  newEndpointBody,
  toEndpointDraft,
  endpointProblems,
  type EndpointDraft,
} from './endpoint-form.ts'
import { EventTypesField } from './event-types-field.tsx'
import { OwnHeadersField } from './own-headers-field.tsx'
import { webhooksTexts } from './texts.ts'
import styles from './endpoint-dialog.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.form

type Created = AnswerOf<'POST /api/webhooks'>

type EndpointDialogProps = {
  /** Null for a new one. */
  endpoint: WebhookEndpoint | null
  onClose: () => void
  /** Receives the new endpoint with its secret, which is answered only once. */
  onCreated?: (created: Created) => void
}

/** Adds or changes an endpoint. */
export function EndpointDialog({ endpoint, onClose, onCreated }: EndpointDialogProps) {
  const [draft, setDraft] = useState(() => toEndpointDraft(endpoint))
  const [tried, setTried] = useState(false)
  const save = useChange({
    send: async (): Promise<Created | null> => {
      if (endpoint === null) return call('POST /api/webhooks', { body: newEndpointBody(draft) })
      const body = endpointChangeBody(draft, endpoint)
      if (body !== null) await call('PATCH /api/webhooks/:endpointId', { params: { endpointId: endpoint.id }, body })
      return null
    },
    same: () => 'save',
    touches: () => [['webhooks']],
    said: () => (endpoint === null ? texts.created : texts.saved),
    failed: null,
  })
  const problems = tried ? endpointProblems(draft) : new Set()
  const refused = save.error === null ? undefined : errorSentence(save.error)
  const isAboutUrl =
    save.error instanceof ApiError && save.error.status === 400 && !/header|events|per_second/i.test(save.error.message)
  const change = (part: Partial<EndpointDraft>) => {
    setDraft({ ...draft, ...part })
    save.reset()
  }
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (endpointProblems(draft).size > 0) return focusFirstInvalid(form)
    save.mutate(undefined, {
      onSuccess: (created) => {
        onClose()
        if (created !== null) onCreated?.(created)
      },
      onError: () => focusFirstInvalid(form),
    })
  }
  return (
    <Dialog open wide onClose={onClose} title={endpoint === null ? texts.addTitle : texts.editTitle}>
      <Form className={fitStyles.spaced} onSubmit={submit}>
        {refused === undefined || isAboutUrl ? null : (
          <Note tone="red" icon="warn" role="alert">
            {refused}
          </Note>
        )}
        <Field
          label={texts.url}
          hint={texts.urlHint}
          error={problems.has('url') ? texts.urlWrong : isAboutUrl ? refused : undefined}
          className={typeStyles.mono}
          value={draft.url}
          inputMode="url"
          maxLength={2048}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => change({ url: event.target.value })}
        />
        <Field
          label={texts.description}
          hint={texts.descriptionHint}
          value={draft.description}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => change({ description: event.target.value })}
        />
        <EventTypesField
          isAll={draft.isAll}
          types={draft.types}
          error={problems.has('types') ? texts.eventsMissing : undefined}
          onChange={change}
        />
        <fieldset className={styles.options}>
          <legend>{texts.options}</legend>
          <Option
            name={texts.strict}
            hint={texts.strictHint}
            checked={draft.isStrict}
            onChange={(isStrict) => change({ isStrict })}
          />
          <Option
            name={texts.autoPause}
            hint={texts.autoPauseHint}
            checked={draft.isAutoPaused}
            onChange={(isAutoPaused) => change({ isAutoPaused })}
          />
          <Option
            name={texts.standard}
            hint={texts.standardHint}
            checked={draft.isStandard}
            onChange={(isStandard) => change({ isStandard })}
          />
          <Field
            label={texts.rate}
            hint={texts.rateHint}
            error={problems.has('rate') ? texts.rateWrong : undefined}
            value={draft.rate}
            inputMode="numeric"
            maxLength={5}
            autoComplete="off"
            onChange={(event) => change({ rate: event.target.value })}
          />
        </fieldset>
        <OwnHeadersField
          headers={draft.headers}
          error={problems.has('headers') ? texts.headersWrong : undefined}
          onChange={(headers) => change({ headers })}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{appTexts.cancel}</Button>
          <Button look="primary" type="submit" busy={save.isPending}>
            {endpoint === null ? webhooksTexts.add : texts.save}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
  )
}

type OptionProps = { name: string; hint: string; checked: boolean; onChange: (checked: boolean) => void }

const Option = ({ name, hint, checked, onChange }: OptionProps) => (
  <div className={classNames(styles.option, typeStyles.mediumNames)}>
    <Switch label={name} checked={checked} onChange={onChange} />
    <div>
      <b>{name}</b>
      <Minor as="p">{hint}</Minor>
    </div>
  </div>
)
