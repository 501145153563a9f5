import { serviceNow } from '../../../ui/clock.ts'
import { DAY_MS } from '../../../ui/format.ts'
import { DialogFoot } from '../../../forms/dialog-foot.tsx'
import { useState } from 'react'
import { SCOPES, type Scope } from '#shared/permissions.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { apiKeysQuery, type NewApiKey } from '../../../api/team-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, FieldHint, FieldLegend, focusFirstInvalid, SelectField } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Stack, Toolbar } from '../../../ui/stack.tsx'
import { apiKeysTexts } from './texts.ts'
import styles from './create-dialog.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = apiKeysTexts.dialog
/** The scopes of usual keys. */
const PRESETS = {
  read: SCOPES.filter((scope) => scope.endsWith(':read')),
  uploads: ['projects:read', 'releases:read', 'releases:write', 'uploads:write'],
  triage: ['issues:read', 'issues:write', 'projects:read', 'team:read'],
  all: SCOPES,
} as const satisfies Record<string, readonly Scope[]>
const PRESET_NAMES = ['read', 'uploads', 'triage', 'all'] as const

const isSame = (some: readonly Scope[], others: readonly Scope[]): boolean =>
  some.length === others.length && some.every((scope) => others.includes(scope))

const EXPIRIES = ['30', '90', '365', 'never'] as const

type CreateDialogProps = { onClose: () => void; onCreated: (key: NewApiKey) => void }

export function CreateDialog({ onClose, onCreated }: CreateDialogProps) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>([])
  const [expiry, setExpiry] = useState<(typeof EXPIRIES)[number]>('90')
  const [tried, setTried] = useState(false)
  const create = useChange({
    send: () =>
      call('POST /api/api-keys', {
        body: {
          name: name.trim(),
          scopes: [...scopes],
          ...(expiry === 'never' ? {} : { expires_at: new Date(serviceNow() + Number(expiry) * DAY_MS).toISOString() }),
        },
      }),
    same: () => 'create',
    touches: () => [apiKeysQuery.queryKey],
    failed: null,
  })
  const nameError = name.trim() === '' ? texts.nameMissing : undefined
  const scopesError = scopes.length === 0 ? texts.scopesMissing : undefined
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (nameError !== undefined || scopesError !== undefined) return focusFirstInvalid(form)
    if (create.isPending) return
    create.mutate(undefined, {
      onSuccess: (key) => {
        onCreated(key)
        onClose()
      },
      onError: () => focusFirstInvalid(form),
    })
  }
  return (
    <Dialog open wide onClose={onClose} title={texts.title}>
      <Form onSubmit={submit}>
        <Field
          label={texts.name}
          hint={texts.nameHint}
          error={(tried ? nameError : undefined) ?? (create.error === null ? undefined : errorSentence(create.error))}
          value={name}
          maxLength={100}
          autoComplete="off"
          data-autofocus
          onChange={(event) => {
            setName(event.target.value)
            create.reset()
          }}
        />
        <fieldset>
          <FieldLegend>{texts.scopes}</FieldLegend>
          <Stack>
            <div role="group" aria-label={texts.presets}>
              <Toolbar>
                {PRESET_NAMES.map((preset) => (
                  <Button
                    key={preset}
                    size="sm"
                    aria-pressed={isSame(scopes, PRESETS[preset])}
                    onClick={() => setScopes(PRESETS[preset])}
                  >
                    {texts.presetNames[preset]}
                  </Button>
                ))}
              </Toolbar>
            </div>
            <div className={styles.grid}>
              {SCOPES.map((scope) => (
                <label key={scope} className={styles.scope}>
                  <input
                    type="checkbox"
                    checked={scopes.includes(scope)}
                    aria-invalid={tried && scopesError !== undefined ? true : undefined}
                    onChange={(event) =>
                      setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                    }
                  />
                  <span className={typeStyles.mono}>{scope}</span>
                </label>
              ))}
            </div>
          </Stack>
          {tried && scopesError !== undefined ? (
            <FieldHint bad role="alert">
              {scopesError}
            </FieldHint>
          ) : (
            <FieldHint>{texts.scopesHint}</FieldHint>
          )}
        </fieldset>
        <SelectField
          label={texts.expires}
          value={expiry}
          onChange={(event) => setExpiry(EXPIRIES.find((one) => one === event.target.value) ?? 'never')}
        >
          {EXPIRIES.map((one) => (
            <option key={one} value={one}>
              {texts.expiries[one]}
            </option>
          ))}
        </SelectField>
        <DialogFoot onClose={onClose} submit={texts.submit} busy={create.isPending} />
      </Form>
    </Dialog>
  )
}
