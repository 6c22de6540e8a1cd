import Database

extension Statement: ResultRow {}
