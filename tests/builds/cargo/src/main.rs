use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Pair {
    name: String,
    pid: u32,
}

fn main() {
    let text = r#"{"name":"crates","pid":42}"#;
    let pair: Pair = serde_json::from_str(text).unwrap();
    let word = regex::Regex::new("[a-z]+").unwrap();
    let own = unsafe { libc::getpid() };
    assert!(word.is_match(&pair.name) && own > 0);
    println!("{} {}", pair.name, itoa::Buffer::new().format(pair.pid));
}
