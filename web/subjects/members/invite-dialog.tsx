import { DialogFoot } from '../../forms/dialog-foot.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_INVITED_EMAILS } from '#shared/limits.ts'
import { roleAtLeast, type Role } from '#shared/permissions.ts'
import { call } from '../../api/call.ts'
import { errorSentence, useChange } from '../../api/change.ts'
import { meQuery } from '../../api/queries.ts'
import { appTexts } from '../../app/texts.ts'
import { AreaField } from '../../ui/area-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { focusFirstInvalid, SelectField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { addressesIn, ROLES_BY_RANK } from './roles.ts'
import { membersTexts } from './texts.ts'
import styles from './invite-dialog.module.css'

const texts = membersTexts.invite

/** Invites one or many addresses; those that were not invited stay, each with its reason. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const own = useQuery(meQuery).data?.user.role ?? 'viewer'
  const [text, setText] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [tried, setTried] = useState(false)
  const [refused, setRefused] = useState<readonly { email: string; reason: string }[]>([])
  const addresses = addressesIn(text)
  const invite = useChange({
    send: () => call('POST /api/invites', { body: { emails: addresses, role } }),
    same: () => 'invite',
    touches: () => [['team'], ['onboarding']],
    failed: null,
  })
  const problem =
    addresses.length === 0 ? texts.none : addresses.length > MAX_INVITED_EMAILS ? texts.tooMany : undefined
  const submit = (form: HTMLFormElement) => {
    setTried(true)
    if (problem !== undefined) return focusFirstInvalid(form)
    if (invite.isPending) return
    invite.mutate(undefined, {
      onSuccess: ({ results }) => {
        const left = results.filter(({ status }) => status !== 'invited')
        setSent(results.length - left.length)
        setRefused(left.map(({ email, error }) => ({ email, reason: error ?? '' })))
        if (left.length === 0) onClose()
        setText(left.map(({ email }) => email).join('\n'))
        setTried(false)
      },
      onError: () => focusFirstInvalid(form),
    })
  }
  const [sent, setSent] = useState(0)
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <Form onSubmit={submit}>
        {sent === 0 ? null : (
          <Note tone="green" icon="check" role="status">
            {texts.sent(sent)}
          </Note>
        )}
        {refused.length === 0 ? null : (
          <Note tone="amber" icon="warn" role="alert">
            <b>{texts.refused(refused.length)}</b>
            <ul className={styles.refused}>
              {refused.map(({ email, reason }) => (
                <li key={email}>
                  {email}: {reason}
                </li>
              ))}
            </ul>
          </Note>
        )}
        <AreaField
          label={texts.emails}
          hint={texts.emailsHint}
          value={text}
          readOnly={false}
          error={tried ? problem : invite.error === null ? undefined : errorSentence(invite.error)}
          onChange={(value) => {
            setText(value)
            invite.reset()
          }}
        />
        <SelectField
          label={texts.role}
          hint={membersTexts.roleNotes[role]}
          value={role}
          onChange={(event) => setRole(ROLES_BY_RANK.find((one) => one === event.target.value) ?? 'member')}
        >
          {ROLES_BY_RANK.filter((one) => roleAtLeast(own, one)).map((one) => (
            <option key={one} value={one}>
              {membersTexts.roleNames[one]}
            </option>
          ))}
        </SelectField>
        <DialogFoot
          cancel={refused.length === 0 ? appTexts.cancel : texts.close}
          onClose={onClose}
          submit={texts.submit(addresses.length)}
          busy={invite.isPending}
        />
      </Form>
    </Dialog>
  )
}
