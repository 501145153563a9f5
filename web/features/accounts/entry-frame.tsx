import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { paths } from '../../address/paths.ts'
import { accountsTexts } from './texts.ts'
import { commonTexts } from '../../common/texts.ts'
import { Logo } from './logo.tsx'
import { Brand } from '../../ui/mark.tsx'
import styles from './entry-frame.module.css'

/** The frame of the login and sign-up pages: the form on the left, the logo on the right. */
export function EntryFrame({ children }: { children: ReactNode }) {
  return (
    <main className={styles.page} id="main">
      <section className={styles.formSide}>
        <Link {...paths.login()}>
          <Brand name={commonTexts.product} />
        </Link>
        <div className={styles.box}>{children}</div>
      </section>
      <aside className={styles.picture} aria-hidden="true">
        <Logo />
        <p className={styles.motto}>
          <b>{accountsTexts.motto}</b>
          <br />
          {accountsTexts.mottoMore}
        </p>
      </aside>
    </main>
  )
}
