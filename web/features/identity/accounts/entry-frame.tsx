import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { GUIDE_PATH } from '../../../address/guide.ts'
import { paths } from '../../../address/paths.ts'
import { PageMain } from '../../../ui/page-main.tsx'
import { accountsTexts } from './texts.ts'
import { appTexts } from '../../../app/texts.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Logo } from './logo.tsx'
import { Brand } from '../../../ui/mark.tsx'
import typeStyles from '../../../ui/type.module.css'
import styles from './entry-frame.module.css'

/** The frame of the login and sign-up pages: the form on the left, the logo on the right. */
export function EntryFrame({ children }: { children: ReactNode }) {
  return (
    <PageMain className={classNames(styles.page, typeStyles.bigHead, fitStyles.bareInput, fitStyles.barePage)}>
      <div className={styles.columns}>
        <section className={styles.formSide}>
          <Link {...paths.login()}>
            <Brand name={appTexts.product} />
          </Link>
          <div className={styles.box}>{children}</div>
          <p className={typeStyles.meta}>
            <a href={GUIDE_PATH}>{appTexts.documentation}</a>
          </p>
        </section>
        <aside className={styles.picture} aria-hidden="true">
          <Logo />
          <p className={classNames(styles.motto, typeStyles.inkNames)}>
            <b>{accountsTexts.motto}</b>
            <br />
            {accountsTexts.mottoMore}
          </p>
        </aside>
      </div>
    </PageMain>
  )
}
