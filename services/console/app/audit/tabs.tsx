import { Link } from '@tanstack/react-router'
import classes from './audit.module.css'

/** Leads from the entries of the audit log to their proofs and back. */
export function AuditTabs() {
  const exact = { exact: true, includeSearch: false }
  return (
    <nav className={classes.tabs} aria-label="Audit">
      <Link to="/audit" activeOptions={exact} className={classes.tab}>
        Entries
      </Link>
      <Link to="/audit/proofs" activeOptions={exact} className={classes.tab}>
        Proofs
      </Link>
    </nav>
  )
}
