import { getRouteApi } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { buildAddress } from '../../../api/call.ts'
import { paths } from '../../../address/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Back, EntryHead } from './entry-parts.tsx'
import { accountsTexts } from './texts.ts'
import styles from './accounts.module.css'

const route = getRouteApi('/login')
const texts = accountsTexts.sso
const REMEMBERED = 'faultline.sso-organisation'

function remembered(): string {
  try {
    return localStorage.getItem(REMEMBERED) ?? ''
  } catch {
    return ''
  }
}

function remember(org: string): void {
  try {
    localStorage.setItem(REMEMBERED, org)
  } catch {
    // Without storage, the field is empty the next time.
  }
}

/** Single sign-on: the organisation decides which identity provider it is. */
export function SsoStep() {
  const { next } = route.useSearch()
  const [org, setOrg] = useState(remembered)
  const [isMissing, setIsMissing] = useState(false)
  const [isLeaving, setIsLeaving] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const submit = () => {
    const slug = org.trim().toLowerCase()
    setIsMissing(slug === '')
    if (slug === '') return field.current?.focus()
    remember(slug)
    setIsLeaving(true)
    return location.assign(buildAddress('/api/auth/sso/start', {}, { org: slug }))
  }
  return (
    <Form className={styles.form} onSubmit={submit}>
      <Back link={paths.login(next)} />
      <EntryHead title={texts.title}>{texts.lead}</EntryHead>
      <Field
        ref={field}
        label={accountsTexts.organisation}
        hint={texts.hint}
        autoComplete="organization"
        autoCapitalize="none"
        autoFocus
        spellCheck={false}
        maxLength={80}
        value={org}
        error={isMissing ? texts.missing : undefined}
        onChange={(event) => setOrg(event.target.value)}
      />
      <Button type="submit" look="primary" size="lg" className={styles.submit} busy={isLeaving}>
        {texts.submit}
      </Button>
    </Form>
  )
}
